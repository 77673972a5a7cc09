mod common;

use std::time::Duration;

use proptest::prelude::*;

use super::*;
use crate::circuit_breaker::{CircuitBreakerConfigBuilder, SlidingWindowType};
use Outcome::{Failure, Ignored, Success};
use State::{Closed, Disabled, ForcedOpen, HalfOpen, MetricsOnly, Open};

const MILLI: u64 = 1_000_000;
const SECOND: u64 = 1_000 * MILLI;

/// An engine with its clock and what it told.
struct Bench {
    engine: Engine,
    now: u64,
    effects: Effects,
}

#[derive(Debug, Clone, Copy)]
struct Ticket {
    generation: u64,
    slot: Option<Slot>,
}

/// Window of 4 calls, open for 1 s, 3 probes.
fn small() -> CircuitBreakerConfigBuilder {
    CircuitBreakerConfig::builder()
        .sliding_window_size(4)
        .wait_duration_in_open_state(Duration::from_secs(1))
        .permitted_number_of_calls_in_half_open_state(3)
}

fn bench(config: CircuitBreakerConfigBuilder) -> Bench {
    let config = Arc::new(config.build().unwrap());
    Bench {
        engine: Engine::new(config, 0, fastrand::Rng::with_seed(7)),
        now: 0,
        effects: Effects::new(),
    }
}

fn ending(outcome: Outcome) -> Ending<'static> {
    Ending { outcome, elapsed: MILLI, kinds: &[], open_for: 0 }
}

impl Bench {
    fn enter(&mut self) -> Result<Ticket, Refusal> {
        self.run_due();
        let slot = self.engine.enter(&mut self.effects)?;
        Ok(Ticket { generation: self.engine.generation(), slot })
    }

    fn exit_with(&mut self, ticket: Ticket, ending: Ending<'_>) {
        self.run_due();
        self.engine.exit(ticket.generation, ticket.slot, ending, &mut self.effects);
    }

    fn exit(&mut self, ticket: Ticket, outcome: Outcome) {
        self.exit_with(ticket, ending(outcome));
    }

    fn cancel(&mut self, ticket: Ticket) {
        self.run_due();
        self.engine.cancel(ticket.generation, ticket.slot);
    }

    fn call(&mut self, outcome: Outcome) -> State {
        let ticket = self.enter().unwrap();
        self.exit(ticket, outcome);
        self.engine.state()
    }

    fn fail_with(&mut self, kinds: &[&str]) -> State {
        let ticket = self.enter().unwrap();
        self.exit_with(ticket, Ending { kinds, ..ending(Outcome::Failure) });
        self.engine.state()
    }

    fn try_acquire_permission(&mut self) -> Result<(), Refusal> {
        self.run_due();
        self.engine.try_acquire_permission(&mut self.effects)
    }

    fn transition_to(&mut self, to: State, open_for: Option<u64>) -> Result<(), State> {
        self.run_due();
        self.engine.transition_to(to, open_for, &mut self.effects)
    }

    fn go(&mut self, to: State) {
        self.transition_to(to, None).unwrap();
    }

    fn reset(&mut self) {
        self.run_due();
        self.engine.reset(&mut self.effects);
    }

    fn advance(&mut self, nanos: u64) {
        self.now += nanos;
    }

    fn run_due(&mut self) {
        self.engine.run_due(self.now, &mut self.effects);
    }

    fn half_open(&mut self) {
        self.go(State::Open);
        self.go(State::HalfOpen);
    }

    /// How long the breaker stays OPEN from now on.
    fn open_wait(&mut self) -> u64 {
        self.enter().unwrap_err().wait.unwrap()
    }

    fn view(&self) -> View {
        self.engine.view(self.now)
    }

    fn transitions(&self) -> Vec<(State, State, u64)> {
        let transition = |effect: &Effect| match *effect {
            Effect::Transition { from, to, at, .. } => Some((from, to, at)),
            _ => None,
        };
        self.effects.iter().filter_map(transition).collect()
    }
}

#[test]
fn an_open_breaker_probes_strictly_after_its_wait() {
    let mut bench = bench(small());
    bench.go(Open);
    bench.advance(SECOND);
    assert_eq!(bench.enter().err().map(|refusal| refusal.wait), Some(Some(1)));
    bench.advance(1);
    assert!(bench.enter().unwrap().slot.is_some());
    assert_eq!(bench.engine.state(), HalfOpen);
}

#[test]
fn only_an_open_breaker_says_when_to_come_back() {
    let mut bench = bench(small());
    bench.go(Open);
    bench.advance(300 * MILLI);
    assert_eq!(bench.enter().err(), Some(Refusal { state: Open, wait: Some(700 * MILLI) }));
    bench.go(ForcedOpen);
    assert_eq!(bench.enter().err(), Some(Refusal { state: ForcedOpen, wait: None }));
    bench.go(HalfOpen);
    for _ in 0..3 {
        bench.enter().unwrap();
    }
    assert_eq!(bench.enter().err(), Some(Refusal { state: HalfOpen, wait: None }));
}

#[test]
fn the_half_open_minimum_is_not_capped_by_the_window() {
    let config = small()
        .sliding_window_size(2)
        .minimum_number_of_calls(3)
        .permitted_number_of_calls_in_half_open_state(5);
    let mut bench = bench(config);
    bench.half_open();
    assert_eq!([Success; 3].map(|outcome| bench.call(outcome)), [HalfOpen, HalfOpen, Closed]);
}

#[test]
fn a_late_result_changes_no_later_state() {
    let mut bench = bench(small());
    let late = [(); 3].map(|()| bench.enter().unwrap());
    for state in [Open, HalfOpen, Closed] {
        bench.go(state);
        let before = bench.view();
        bench.exit(late[0], Failure);
        bench.exit(late[1], Success);
        bench.exit(late[2], Ignored);
        assert_eq!(bench.view(), before);
    }
}

#[test]
fn a_late_release_gives_no_probe_to_a_later_state() {
    let mut bench = bench(small().permitted_number_of_calls_in_half_open_state(1));
    bench.half_open();
    let early = bench.enter().unwrap();
    bench.half_open();
    bench.cancel(early);
    bench.enter().unwrap();
    assert!(bench.enter().is_err());
}

#[test]
fn a_probe_that_stays_away_loses_its_slot_but_not_its_say() {
    let config =
        small().permitted_number_of_calls_in_half_open_state(1).probe_lease(Duration::from_secs(2));
    let mut bench = bench(config);
    bench.half_open();
    let late = bench.enter().unwrap();
    bench.advance(2 * SECOND - 1);
    assert!(bench.enter().is_err());
    bench.advance(1);
    bench.enter().unwrap();
    bench.exit(late, Failure);
    assert_eq!(bench.engine.state(), Open);
}

#[test]
fn a_slot_that_was_lost_is_not_given_back_again() {
    let config =
        small().permitted_number_of_calls_in_half_open_state(2).probe_lease(Duration::from_secs(2));
    let mut bench = bench(config);
    bench.half_open();
    let late = [(); 2].map(|()| bench.enter().unwrap());
    bench.advance(2 * SECOND);
    let _in_time = [(); 2].map(|()| bench.enter().unwrap());
    bench.exit(late[0], Ignored);
    bench.cancel(late[1]);
    assert_eq!(bench.engine.state(), HalfOpen);
    assert!(bench.enter().is_err());
}

#[test]
fn probes_that_all_outlast_their_lease_still_decide() {
    for (outcome, state) in [(Success, Closed), (Failure, Open)] {
        for config in [small(), conclusive(), consecutive()] {
            let mut bench = bench(config);
            bench.half_open();
            let probes: Vec<_> = std::iter::from_fn(|| bench.enter().ok()).collect();
            bench.advance(61 * SECOND);
            bench.run_due();
            for probe in probes {
                bench.exit(probe, outcome);
            }
            assert_eq!(bench.engine.state(), state);
        }
    }
}

#[test]
fn untied_probes_have_no_lease() {
    let mut bench = bench(small().permitted_number_of_calls_in_half_open_state(1));
    bench.half_open();
    bench.try_acquire_permission().unwrap();
    bench.advance(3_600 * SECOND);
    assert!(bench.enter().is_err());
}

fn conclusive() -> CircuitBreakerConfigBuilder {
    small()
        .permitted_number_of_calls_in_half_open_state(4)
        .minimum_number_of_calls(1)
        .half_open_evaluation(HalfOpenEvaluation::Conclusive)
}

#[test]
fn a_conclusive_breaker_opens_once_the_remaining_probes_cannot_help() {
    let mut bench = bench(conclusive());
    bench.half_open();
    assert_eq!([Failure, Success, Failure].map(|o| bench.call(o)), [HalfOpen, HalfOpen, Open]);
}

#[test]
fn a_conclusive_breaker_closes_once_the_remaining_probes_cannot_harm() {
    let mut bench = bench(conclusive());
    bench.half_open();
    assert_eq!([Success; 3].map(|o| bench.call(o)), [HalfOpen, HalfOpen, Closed]);
}

#[test]
fn a_conclusive_breaker_counts_ignored_and_dropped_probes_as_to_come() {
    let mut bench = bench(conclusive());
    bench.half_open();
    assert_eq!([Failure, Ignored, Ignored].map(|o| bench.call(o)), [HalfOpen; 3]);
    let dropped = bench.enter().unwrap();
    bench.cancel(dropped);
    assert_eq!([Success, Success, Success].map(|o| bench.call(o)), [HalfOpen, HalfOpen, Closed]);
}

#[test]
fn a_conclusive_breaker_waits_for_the_verdict_on_slow_calls_too() {
    let mut bench = bench(conclusive().slow_call_rate_threshold(25.0));
    bench.half_open();
    assert_eq!([Success; 4].map(|o| bench.call(o)), [HalfOpen, HalfOpen, HalfOpen, Closed]);
}

#[test]
fn half_open_can_have_a_failure_threshold_of_its_own() {
    let config = small()
        .failure_rate_threshold(80.0)
        .half_open_failure_rate_threshold(30.0)
        .permitted_number_of_calls_in_half_open_state(3);
    let mut bench = bench(config);
    bench.half_open();
    assert_eq!([Success, Success, Failure].map(|o| bench.call(o)), [HalfOpen, HalfOpen, Open]);
}

#[test]
fn a_success_threshold_of_one_closes_on_the_first_success() {
    let mut bench = bench(small().half_open_success_threshold(1));
    bench.half_open();
    assert_eq!([Failure, Success].map(|o| bench.call(o)), [HalfOpen, Closed]);
}

#[test]
fn a_success_threshold_wants_successes_in_a_row() {
    let config = small()
        .half_open_success_threshold(2)
        .failure_rate_threshold(60.0)
        .permitted_number_of_calls_in_half_open_state(5)
        .minimum_number_of_calls(2);
    let mut bench = bench(config);
    bench.half_open();
    assert_eq!(
        [Success, Failure, Success, Success].map(|o| bench.call(o)),
        [HalfOpen, HalfOpen, HalfOpen, Closed]
    );
}

#[test]
fn a_success_threshold_that_is_missed_leaves_it_to_the_rate_of_all_probes() {
    let config = small().half_open_success_threshold(3).failure_rate_threshold(60.0);
    let mut bench = bench(config);
    bench.half_open();
    assert_eq!([Success, Failure, Success].map(|o| bench.call(o)), [HalfOpen, HalfOpen, Closed]);
}

#[test]
fn a_slow_probe_is_no_success_towards_the_threshold() {
    let config =
        small().half_open_success_threshold(1).slow_call_duration_threshold(Duration::from_secs(1));
    let mut bench = bench(config);
    bench.half_open();
    let slow = bench.enter().unwrap();
    bench.exit_with(slow, Ending { elapsed: SECOND + 1, ..ending(Success) });
    assert_eq!(bench.engine.state(), HalfOpen);
    assert_eq!(bench.call(Success), Closed);
}

#[test]
fn a_slow_probe_ends_a_row_of_successes() {
    let config = small()
        .half_open_success_threshold(2)
        .permitted_number_of_calls_in_half_open_state(5)
        .slow_call_duration_threshold(Duration::from_secs(1));
    let mut bench = bench(config);
    bench.half_open();
    bench.call(Success);
    let slow = bench.enter().unwrap();
    bench.exit_with(slow, Ending { elapsed: SECOND + 1, ..ending(Success) });
    assert_eq!([Success; 2].map(|o| bench.call(o)), [HalfOpen, Closed]);
}

fn consecutive() -> CircuitBreakerConfigBuilder {
    small().failure_counting(FailureCounting::Consecutive).consecutive_failures(3)
}

#[test]
fn consecutive_counting_opens_after_so_many_failures_in_a_row() {
    let mut bench = bench(consecutive());
    let outcomes = [Failure, Failure, Success, Failure, Ignored, Failure, Failure];
    let states = outcomes.map(|outcome| bench.call(outcome));
    assert_eq!(states, [Closed, Closed, Closed, Closed, Closed, Closed, Open]);
}

#[test]
fn consecutive_counting_goes_by_neither_failure_nor_slow_rate() {
    let mut bench = bench(consecutive().slow_call_duration_threshold(Duration::from_nanos(1)));
    for _ in 0..10 {
        assert_eq!([Failure, Failure, Success].map(|o| bench.call(o)), [Closed; 3]);
    }
}

#[test]
fn consecutive_failures_are_counted_for_each_kind_that_has_a_number() {
    let config = consecutive().consecutive_failures_by_kind([("timeout", 2), ("default", 3)]);
    let mut bench = bench(config);
    assert_eq!(bench.fail_with(&["timeout", "io"]), Closed);
    assert_eq!(bench.fail_with(&["connect"]), Closed);
    assert_eq!(bench.fail_with(&["connect"]), Closed);
    assert_eq!(bench.fail_with(&["timeout"]), Open);
    bench.go(Closed);
    assert_eq!([["a"], ["b"], ["c"]].map(|kinds| bench.fail_with(&kinds)), [Closed, Closed, Open]);
}

#[test]
fn a_consecutive_breaker_reopens_on_the_first_failed_probe() {
    let mut bench = bench(consecutive().half_open_success_threshold(3));
    bench.half_open();
    assert_eq!([Success, Failure].map(|o| bench.call(o)), [HalfOpen, Open]);
}

#[test]
fn a_consecutive_breaker_closes_after_so_many_successes_in_a_row() {
    let mut bench = bench(consecutive().half_open_success_threshold(2));
    bench.half_open();
    assert_eq!([Success, Ignored, Success].map(|o| bench.call(o)), [HalfOpen, HalfOpen, Closed]);
}

#[test]
fn a_consecutive_breaker_takes_a_slow_success_for_a_success() {
    let mut bench = bench(consecutive().slow_call_duration_threshold(Duration::from_nanos(1)));
    bench.half_open();
    assert_eq!(bench.call(Success), Closed);
}

#[test]
fn a_consecutive_breaker_can_judge_its_probes_by_rate() {
    let mut bench = bench(consecutive().half_open_failure_rate_threshold(60.0));
    bench.half_open();
    assert_eq!([Failure, Success, Success].map(|o| bench.call(o)), [HalfOpen, HalfOpen, Closed]);
}

#[test]
fn an_answer_can_open_a_closed_breaker_for_a_bounded_time() {
    let mut bench = bench(small().open_for_max(Duration::from_secs(30)));
    for (outcome, asked, granted) in [(Ignored, 5, 5), (Failure, 3_600, 30), (Success, 1, 1)] {
        bench.go(Closed);
        let ticket = bench.enter().unwrap();
        bench.exit_with(ticket, Ending { open_for: asked * SECOND, ..ending(outcome) });
        assert_eq!(bench.engine.state(), Open);
        assert_eq!(bench.open_wait(), granted * SECOND);
    }
}

#[test]
fn an_answer_opens_nothing_when_it_asks_for_no_time_or_comes_late() {
    let mut bench = bench(small());
    let asks_for_none = bench.enter().unwrap();
    bench.exit_with(asks_for_none, ending(Failure));
    let late = bench.enter().unwrap();
    bench.go(Closed);
    bench.exit_with(late, Ending { open_for: SECOND, ..ending(Failure) });
    assert_eq!(bench.engine.state(), Closed);
}

#[test]
fn an_answer_opens_only_a_closed_breaker() {
    for state in [MetricsOnly, HalfOpen] {
        let mut bench = bench(small());
        bench.go(ForcedOpen);
        bench.go(state);
        let ticket = bench.enter().unwrap();
        bench.exit_with(ticket, Ending { open_for: SECOND, ..ending(Success) });
        assert_eq!(bench.engine.state(), state);
    }
}

#[test]
fn being_opened_by_an_answer_is_no_attempt_of_a_growing_wait() {
    let mut bench = bench(small().enable_exponential_backoff(true));
    let ticket = bench.enter().unwrap();
    bench.exit_with(ticket, Ending { open_for: SECOND, ..ending(Failure) });
    bench.go(HalfOpen);
    bench.go(Open);
    assert_eq!(bench.open_wait(), SECOND);
    bench.go(HalfOpen);
    bench.go(Open);
    assert_eq!(bench.open_wait(), 1_500 * MILLI);
}

#[test]
fn a_growing_wait_starts_anew_after_closing() {
    let mut bench = bench(small().enable_exponential_backoff(true));
    for wait in [1_000, 1_500, 2_250] {
        bench.go(Open);
        assert_eq!(bench.open_wait(), wait * MILLI);
    }
    bench.go(Closed);
    bench.go(Open);
    assert_eq!(bench.open_wait(), SECOND);
}

#[test]
fn an_automatic_breaker_is_half_open_at_the_end_of_the_wait() {
    let mut bench = bench(small().automatic_transition_from_open_to_half_open_enabled(true));
    bench.go(Open);
    bench.advance(SECOND);
    assert_eq!(bench.view().state, HalfOpen);
    bench.advance(5 * SECOND);
    bench.run_due();
    assert_eq!(bench.transitions(), [(Closed, Open, 0), (Open, HalfOpen, SECOND)]);
}

#[test]
fn timers_of_several_states_run_in_their_order_at_their_times() {
    let config = small()
        .automatic_transition_from_open_to_half_open_enabled(true)
        .max_wait_duration_in_half_open_state(Duration::from_secs(2));
    let mut bench = bench(config);
    bench.go(Open);
    bench.advance(5 * SECOND);
    bench.run_due();
    let expected = [
        (Closed, Open, 0),
        (Open, HalfOpen, SECOND),
        (HalfOpen, Open, 3 * SECOND),
        (Open, HalfOpen, 4 * SECOND),
    ];
    assert_eq!(bench.transitions(), expected);
}

#[test]
fn catching_up_is_bounded_however_long_nobody_came() {
    let config = small()
        .automatic_transition_from_open_to_half_open_enabled(true)
        .wait_duration_in_open_state(Duration::from_millis(1))
        .max_wait_duration_in_half_open_state(Duration::from_millis(1));
    let mut bench = bench(config);
    bench.go(Open);
    bench.advance(365 * 86_400 * SECOND);
    let seen = bench.view();
    bench.run_due();
    assert_eq!(bench.transitions().len(), 1_001);
    assert_eq!(bench.view(), seen);
    assert!(bench.engine.next_timer().is_some_and(|due| due > bench.now));
}

#[test]
fn a_timer_ends_with_its_state() {
    let config = small()
        .automatic_transition_from_open_to_half_open_enabled(true)
        .max_wait_duration_in_half_open_state(Duration::from_secs(1));
    for state in [ForcedOpen, Disabled, MetricsOnly, Closed] {
        for timed in [Open, HalfOpen] {
            let mut bench = bench(config.clone());
            bench.go(Open);
            bench.go(timed);
            bench.go(state);
            bench.advance(3_600 * SECOND);
            bench.run_due();
            assert_eq!(bench.engine.state(), state);
        }
    }
}

#[test]
fn a_reset_ends_the_timer_of_the_state_it_leaves() {
    let mut bench = bench(small().automatic_transition_from_open_to_half_open_enabled(true));
    bench.go(Open);
    bench.reset();
    bench.advance(SECOND / 2);
    bench.go(Open);
    bench.advance(SECOND / 2);
    bench.run_due();
    assert_eq!(bench.engine.state(), Open);
    bench.advance(SECOND / 2);
    bench.run_due();
    assert_eq!(bench.engine.state(), HalfOpen);
}

#[test]
fn c09_a_clock_that_goes_back_changes_nothing() {
    let config = small().sliding_window_type(SlidingWindowType::TimeBased).sliding_window_size(2);
    let mut bench = bench(config);
    bench.advance(7_200 * SECOND);
    bench.call(Failure);
    bench.now -= 3_600 * SECOND;
    bench.call(Success);
    bench.advance(3_600 * SECOND);
    let sums = bench.view().snapshot.sums;
    assert_eq!((sums.calls, sums.failed), (2, 1));
    bench.go(Open);
    bench.now -= 3_600 * SECOND;
    assert_eq!(bench.open_wait(), SECOND);
}

#[test]
fn metrics_only_tells_of_each_exceeded_rate_once_and_stays() {
    let config = small().slow_call_duration_threshold(Duration::from_nanos(1));
    let mut bench = bench(config);
    bench.go(MetricsOnly);
    bench.effects.clear();
    assert_eq!([Failure; 10].map(|outcome| bench.call(outcome)), [MetricsOnly; 10]);
    assert_eq!(
        bench.effects,
        [Effect::FailureRateExceeded(100.0), Effect::SlowCallRateExceeded(100.0)]
    );
}

#[test]
fn open_after_a_state_without_window_has_an_empty_one() {
    for state in [Disabled, ForcedOpen] {
        let mut bench = bench(small().minimum_number_of_calls(1));
        bench.go(state);
        bench.go(Open);
        bench.run_due();
        bench.engine.on_ending(ending(Failure), &mut bench.effects);
        assert_eq!(bench.view().snapshot.sums.calls, 1);
    }
}

fn reconfigure(bench: &mut Bench, config: CircuitBreakerConfigBuilder) {
    let config = Arc::new(config.build().unwrap());
    bench.run_due();
    bench.engine.reconfigure(config);
}

#[test]
fn b09_other_thresholds_leave_state_time_left_and_window_alone() {
    let mut bench = bench(small().wait_duration_in_open_state(Duration::from_secs(30)));
    for outcome in [Failure, Failure, Success, Success] {
        bench.call(outcome);
    }
    assert_eq!(bench.engine.state(), Open);
    bench.advance(10 * SECOND);
    let before = bench.view();
    reconfigure(&mut bench, small().failure_rate_threshold(10.0));
    assert_eq!(bench.view(), before);
    assert_eq!(bench.open_wait(), 20 * SECOND);
}

#[test]
fn b09_another_size_or_type_of_window_starts_it_anew_in_the_same_state() {
    let time = small().sliding_window_type(SlidingWindowType::TimeBased);
    for config in [small().sliding_window_size(5), time] {
        let mut bench = bench(small());
        bench.call(Failure);
        reconfigure(&mut bench, config);
        assert_eq!(bench.engine.state(), Closed);
        assert_eq!(bench.view().snapshot, Snapshot::EMPTY);
    }
}

#[test]
fn b10_a_call_that_started_under_other_settings_still_counts() {
    let mut bench = bench(small());
    let ticket = bench.enter().unwrap();
    reconfigure(&mut bench, small().failure_rate_threshold(10.0));
    bench.exit(ticket, Failure);
    assert_eq!(bench.view().snapshot.sums.failed, 1);
}

#[test]
fn b10_probes_on_their_way_keep_their_slots_when_their_number_changes() {
    let mut bench = bench(small());
    bench.half_open();
    let probes = [(); 2].map(|()| bench.enter().unwrap());
    reconfigure(&mut bench, small().permitted_number_of_calls_in_half_open_state(2));
    assert!(bench.enter().is_err());
    for probe in probes {
        bench.exit(probe, Success);
    }
    assert_eq!(bench.engine.state(), Closed);
}

#[test]
fn a_change_to_counting_in_a_row_does_not_leave_the_last_probe_without_a_verdict() {
    let mut bench = bench(small());
    bench.half_open();
    assert_eq!([Failure, Success].map(|outcome| bench.call(outcome)), [HalfOpen; 2]);
    reconfigure(&mut bench, consecutive().half_open_success_threshold(3));
    assert_eq!(bench.call(Success), Closed);
}

#[test]
fn a_time_window_of_the_same_size_is_kept_under_other_settings() {
    let time = || small().sliding_window_type(SlidingWindowType::TimeBased);
    let mut bench = bench(time());
    bench.call(Failure);
    reconfigure(&mut bench, time().failure_rate_threshold(10.0));
    assert_eq!(bench.view().snapshot.sums.failed, 1);
}

#[test]
fn other_settings_with_as_many_probes_permit_no_more_of_them() {
    let mut bench = bench(small());
    bench.half_open();
    bench.call(Success);
    reconfigure(&mut bench, small().failure_rate_threshold(10.0));
    let _on_their_way = [(); 2].map(|()| bench.enter().unwrap());
    assert!(bench.enter().is_err());
}

#[test]
fn rows_of_failures_go_on_where_their_limits_stay() {
    let mut bench = bench(consecutive());
    assert_eq!([Failure; 2].map(|outcome| bench.call(outcome)), [Closed; 2]);
    reconfigure(&mut bench, consecutive().failure_rate_threshold(10.0));
    assert_eq!(bench.call(Failure), Open);
}

#[test]
fn rows_of_failures_start_anew_under_other_limits() {
    let mut bench = bench(consecutive());
    assert_eq!([Failure; 2].map(|outcome| bench.call(outcome)), [Closed; 2]);
    let limits = [("timeout", 3), ("default", 3)];
    reconfigure(&mut bench, consecutive().consecutive_failures_by_kind(limits));
    assert_eq!([["timeout"], ["io"]].map(|kinds| bench.fail_with(&kinds)), [Closed; 2]);
}

#[test]
fn a_row_of_successes_goes_on_under_other_limits_of_failures() {
    let config = || consecutive().half_open_success_threshold(2);
    let mut bench = bench(config());
    bench.half_open();
    assert_eq!(bench.call(Success), HalfOpen);
    reconfigure(&mut bench, config().consecutive_failures(9));
    assert_eq!(bench.call(Success), Closed);
}

fn any_state() -> impl Strategy<Value = State> {
    (0..State::ALL.len()).prop_map(|index| State::ALL[index])
}

#[derive(Debug, Clone)]
enum Step {
    Advance(u64),
    Enter,
    Exit(usize, Outcome, bool),
    Cancel(usize),
    Forget(usize),
    Go(State),
    Reset,
    Reconfigure(usize),
}

fn step() -> impl Strategy<Value = Step> {
    let outcome = prop_oneof![Just(Success), Just(Failure), Just(Ignored)];
    prop_oneof![
        3 => (0..1_500 * MILLI).prop_map(Step::Advance),
        6 => Just(Step::Enter),
        6 => (0_usize..8, outcome, any::<bool>()).prop_map(|(i, o, s)| Step::Exit(i, o, s)),
        1 => (0_usize..8).prop_map(Step::Cancel),
        1 => (0_usize..8).prop_map(Step::Forget),
        1 => any_state().prop_map(Step::Go),
        1 => Just(Step::Reset),
        1 => (0_usize..64).prop_map(Step::Reconfigure),
    ]
}

/// One of 64 settings, from every combination of the rules that differ in half-open.
fn settings(index: usize) -> CircuitBreakerConfigBuilder {
    let bit = |n: usize| index >> n & 1 != 0;
    let mut config = small()
        .minimum_number_of_calls(2)
        .automatic_transition_from_open_to_half_open_enabled(bit(0))
        .max_wait_duration_in_half_open_state(Duration::from_secs(if bit(1) { 3 } else { 0 }))
        .slow_call_duration_threshold(Duration::from_secs(1));
    if bit(2) {
        config = config.half_open_evaluation(HalfOpenEvaluation::Conclusive);
    }
    if bit(3) {
        config = config.failure_counting(FailureCounting::Consecutive).consecutive_failures(2);
    }
    if bit(4) {
        config = config.half_open_success_threshold(2);
    }
    if bit(5) {
        config =
            config.permitted_number_of_calls_in_half_open_state(5).enable_randomized_wait(true);
    }
    config
}

/// Applies a step; the calls on their way are in `tickets`.
fn apply(bench: &mut Bench, tickets: &mut Vec<Ticket>, step: &Step) {
    match *step {
        Step::Advance(nanos) => bench.advance(nanos),
        Step::Enter => tickets.extend(bench.enter().ok()),
        Step::Exit(index, outcome, slow) if index < tickets.len() => {
            let elapsed = if slow { 2 * SECOND } else { MILLI };
            let ticket = tickets.swap_remove(index);
            bench.exit_with(ticket, Ending { elapsed, ..ending(outcome) });
        }
        Step::Cancel(index) if index < tickets.len() => {
            let ticket = tickets.swap_remove(index);
            bench.cancel(ticket);
        }
        Step::Forget(index) if index < tickets.len() => {
            tickets.swap_remove(index);
        }
        Step::Go(state) => {
            let _ = bench.transition_to(state, None);
        }
        Step::Reset => bench.reset(),
        Step::Reconfigure(index) => reconfigure(bench, settings(index)),
        Step::Exit(..) | Step::Cancel(_) | Step::Forget(_) => {}
    }
}

proptest! {
    #[test]
    fn an_observer_sees_what_the_next_change_finds(
        config in 0_usize..64,
        steps in proptest::collection::vec(step(), 0..60),
    ) {
        let mut bench = bench(settings(config));
        let mut tickets = Vec::new();
        for step in &steps {
            apply(&mut bench, &mut tickets, step);
            let seen = bench.view();
            bench.run_due();
            prop_assert_eq!(bench.view(), seen);
            prop_assert_eq!(bench.engine.state(), seen.state);
        }
    }

    #[test]
    fn nothing_leaves_a_breaker_half_open_for_ever(
        config in 0_usize..64,
        steps in proptest::collection::vec(step(), 0..60),
    ) {
        let mut bench = bench(settings(config));
        let mut tickets = Vec::new();
        for step in &steps {
            apply(&mut bench, &mut tickets, step);
        }
        if bench.engine.state().can_become(HalfOpen) {
            bench.go(Open);
            bench.go(HalfOpen);
            tickets.clear();
            for step in &steps {
                if !matches!(step, Step::Go(_) | Step::Reset) {
                    apply(&mut bench, &mut tickets, step);
                }
            }
        }
        // Whoever holds a slot has lost it by then; from there on, all is well with the callee.
        bench.advance(60 * SECOND);
        for _ in 0..40 {
            bench.advance(300 * MILLI);
            if let Ok(ticket) = bench.enter() {
                bench.exit(ticket, Success);
            }
        }
        prop_assert!(!matches!(bench.engine.state(), Open | HalfOpen));
    }

    #[test]
    fn no_more_probes_than_permitted_are_on_their_way(
        config in 0_usize..64,
        steps in proptest::collection::vec(step(), 0..100),
    ) {
        let mut bench = bench(settings(config));
        let permitted = bench.engine.config().permitted_number_of_calls_in_half_open_state();
        let mut tickets = Vec::new();
        bench.half_open();
        for step in &steps {
            // A forgotten probe is on its way as well, but nobody counts it here.
            if matches!(step, Step::Reconfigure(_) | Step::Forget(_)) {
                continue;
            }
            apply(&mut bench, &mut tickets, step);
            let generation = bench.engine.generation();
            let probes = tickets.iter().filter(|ticket| {
                ticket.generation == generation && ticket.slot.is_some()
            });
            if bench.now < 60 * SECOND {
                prop_assert!(probes.count() <= permitted as usize);
            }
        }
    }
}
