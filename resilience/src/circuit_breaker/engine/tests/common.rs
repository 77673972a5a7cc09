use super::*;
use crate::circuit_breaker::shared::{Counts, Told};

impl Bench {
    /// The others are in this state, in their stay of this number, for so long.
    fn hear(&mut self, state: State, generation: u64, left: u64, probes: u32) -> State {
        self.run_due();
        let told = Told { state, generation, left, lent: probes, openings: 1 };
        self.engine.follow(told, &mut self.effects);
        self.engine.state()
    }

    fn lose_touch(&mut self) -> State {
        self.run_due();
        self.engine.go_alone(&mut self.effects);
        self.engine.state()
    }

    /// Whether others have brought each change about.
    fn changes(&self) -> Vec<(State, State, bool)> {
        let change = |effect: &Effect| match *effect {
            Effect::Transition { from, to, shared, .. } => Some((from, to, shared)),
            _ => None,
        };
        self.effects.iter().filter_map(change).collect()
    }

    /// Calls that are let in at once.
    fn let_in(&mut self) -> Vec<Ticket> {
        std::iter::from_fn(|| self.enter().ok()).take(100).collect()
    }
}

/// Half-open with the others, with so many probes.
fn lent(config: CircuitBreakerConfigBuilder, probes: u32) -> Bench {
    let mut bench = bench(config);
    bench.hear(Open, 7, SECOND, 0);
    bench.hear(HalfOpen, 8, 0, probes);
    bench
}

#[test]
fn it_is_open_with_the_others_for_as_long_as_they_are() {
    let mut bench = bench(small());
    assert_eq!(bench.hear(Open, 7, 5 * SECOND, 0), Open);
    assert_eq!(bench.open_wait(), 5 * SECOND);
    bench.advance(SECOND);
    assert_eq!(bench.hear(Open, 7, 4 * SECOND, 0), Open);
    assert_eq!(bench.open_wait(), 4 * SECOND);
    bench.advance(5 * SECOND);
    let refused = bench.enter().unwrap_err();
    // Time alone lends no probe; the next exchange may.
    assert_eq!((refused.state, refused.wait), (Open, Some(SECOND)));
    assert_eq!(bench.hear(Closed, 9, 0, 0), Closed);
    assert_eq!(bench.changes(), [(Closed, Open, true), (Open, Closed, true)]);
}

#[test]
fn time_alone_does_not_end_what_others_end() {
    let limited = small()
        .automatic_transition_from_open_to_half_open_enabled(true)
        .max_wait_duration_in_half_open_state(Duration::from_secs(1));
    let mut bench = bench(limited);
    bench.hear(Open, 7, SECOND, 0);
    bench.advance(10 * SECOND);
    bench.run_due();
    assert_eq!((bench.view().state, bench.engine.next_timer()), (Open, None));
    assert!(!bench.engine.is_at_rest(bench.now));
    bench.hear(HalfOpen, 8, SECOND, 1);
    bench.advance(10 * SECOND);
    bench.run_due();
    assert_eq!((bench.view().state, bench.engine.next_timer()), (HalfOpen, None));
}

#[test]
fn half_open_it_makes_the_probes_that_it_was_lent_and_leaves_the_verdict_to_the_others() {
    let mut bench = lent(small(), 2);
    let probes = bench.let_in();
    assert_eq!(probes.len(), 2);
    assert_eq!(bench.hear(HalfOpen, 8, 0, 1), HalfOpen);
    assert_eq!(bench.let_in().len(), 1);
    for probe in probes {
        bench.exit(probe, Failure);
    }
    assert_eq!(bench.engine.state(), HalfOpen);
    let (so_far, _) = bench.engine.probes_so_far();
    assert_eq!((so_far.counts.calls, so_far.counts.failed, so_far.held), (2, 2, 1));
    assert_eq!(bench.hear(Open, 9, SECOND, 0), Open);
}

#[test]
fn a_probe_that_was_cancelled_or_ignored_is_still_held() {
    let mut bench = lent(small(), 2);
    let probes = bench.let_in();
    bench.cancel(probes[0]);
    bench.exit(probes[1], Ignored);
    let (so_far, _) = bench.engine.probes_so_far();
    assert_eq!((so_far.counts.calls, so_far.held), (0, 2));
    assert_eq!(bench.let_in().len(), 2);
}

#[test]
fn a_probe_that_is_tied_to_nothing_is_held_too() {
    let mut bench = lent(small(), 2);
    bench.try_acquire_permission().unwrap();
    assert_eq!(bench.engine.probes_so_far().0.held, 2);
    bench.engine.on_ending(ending(Success), &mut Effects::new());
    assert_eq!(bench.engine.probes_so_far().0.held, 1);
}

#[test]
fn probes_that_nobody_came_for_are_given_up_after_their_lease() {
    let mut bench = lent(small().probe_lease(Duration::from_secs(3)), 2);
    let probe = bench.enter().unwrap();
    bench.advance(3 * SECOND - 1);
    bench.run_due();
    assert!(!bench.engine.probes_so_far().1);
    bench.exit(probe, Success);
    bench.advance(1);
    bench.run_due();
    let (so_far, gives_up) = bench.engine.probes_so_far();
    assert!(gives_up);
    assert_eq!((so_far.counts.calls, so_far.held), (1, 0));
    assert!(bench.enter().is_err());
}

#[test]
fn settings_for_another_number_of_probes_lend_none() {
    let mut bench = lent(small(), 1);
    let more = small().permitted_number_of_calls_in_half_open_state(9).build().unwrap();
    bench.engine.reconfigure(Arc::new(more));
    assert_eq!(bench.let_in().len(), 1);
}

#[test]
fn its_own_failures_open_it_while_the_others_are_closed() {
    let mut bench = bench(small().minimum_number_of_calls(1));
    bench.hear(Closed, 0, 0, 0);
    assert_eq!(bench.call(Failure), Open);
    assert_eq!(bench.hear(Closed, 0, 0, 0), Open);
    bench.advance(SECOND + 1);
    assert_eq!(bench.let_in().len(), 3, "probes of its own");
    assert_eq!(bench.changes(), [(Closed, Open, false), (Open, HalfOpen, false)]);
}

#[test]
fn of_two_waits_the_longer_counts() {
    let mut bench = bench(small());
    bench.transition_to(Open, Some(10 * SECOND)).unwrap();
    bench.engine.by_hand = false; // as if a callee had asked for it
    bench.hear(Open, 7, 3 * SECOND, 0);
    assert_eq!(bench.open_wait(), 10 * SECOND);
    bench.advance(5 * SECOND);
    assert_eq!(bench.hear(HalfOpen, 8, 0, 3), Open);
    assert!(!bench.engine.could_probe());
    assert_eq!(bench.hear(Closed, 9, 0, 0), Open);
    assert_eq!(bench.open_wait(), 5 * SECOND);
    bench.advance(5 * SECOND + 1);
    assert!(bench.enter().is_ok());
    assert_eq!(bench.changes(), [(Closed, Open, false), (Open, HalfOpen, false)]);
}

#[test]
fn the_wait_of_the_others_counts_where_it_is_the_longer() {
    let mut bench = bench(small());
    bench.transition_to(Open, Some(SECOND)).unwrap();
    bench.engine.by_hand = false;
    bench.hear(Open, 7, 3 * SECOND, 0);
    bench.advance(2 * SECOND);
    assert_eq!(bench.open_wait(), SECOND);
    assert_eq!(bench.hear(Closed, 8, 0, 0), Closed);
}

#[test]
fn one_that_hears_of_half_open_first_was_open_before() {
    let mut bench = bench(small());
    assert_eq!(bench.hear(HalfOpen, 8, 0, 0), HalfOpen);
    assert!(bench.enter().is_err());
    assert_eq!(bench.changes(), [(Closed, Open, true), (Open, HalfOpen, true)]);
}

#[test]
fn what_somebody_has_chosen_wins_until_a_reset() {
    for chosen in [Closed, Open, ForcedOpen, Disabled, MetricsOnly] {
        let mut bench = bench(small());
        bench.go(chosen);
        assert!(!bench.engine.takes_part());
        for others in [Open, HalfOpen, Closed] {
            assert_eq!(bench.hear(others, 7, SECOND, 3), chosen);
        }
        bench.reset();
        assert_eq!(bench.hear(Open, 7, SECOND, 0), Open);
    }
    let mut bench = lent(small(), 1);
    bench.go(Closed);
    assert_eq!(bench.hear(HalfOpen, 8, 0, 0), Closed);
}

#[test]
fn without_the_others_open_ends_by_time_and_half_open_begins_anew() {
    let mut bench = bench(small());
    bench.hear(Open, 7, 5 * SECOND, 0);
    assert_eq!(bench.lose_touch(), Open);
    assert_eq!(bench.open_wait(), 5 * SECOND);
    bench.advance(5 * SECOND + 1);
    assert_eq!(bench.let_in().len(), 3);

    let mut bench = lent(small(), 1);
    let probe = bench.enter().unwrap();
    assert_eq!(bench.lose_touch(), HalfOpen);
    bench.exit(probe, Failure);
    for probe in bench.let_in() {
        bench.exit(probe, Success);
    }
    assert_eq!(bench.engine.state(), Closed, "by three probes of its own");
    assert_eq!(bench.lose_touch(), Closed);
}

#[test]
fn a_store_that_says_nothing_at_all_holds_no_breaker_open_for_ever() {
    for state in [Open, HalfOpen] {
        let mut bench = bench(small());
        for generation in [7, 7, 7] {
            bench.hear(state, generation, SECOND, 0);
            bench.advance(31 * SECOND);
            assert!(bench.enter().is_err(), "it is still heard of");
        }
        bench.advance(2 * SECOND);
        assert_eq!(bench.let_in().len(), 3, "probes of its own");
    }
}

#[test]
fn a_result_of_an_earlier_stay_is_no_result_of_a_later_one() {
    let mut bench = bench(small().minimum_number_of_calls(1));
    let (early, slow) = (bench.enter().unwrap(), bench.enter().unwrap());
    bench.hear(Open, 7, SECOND, 0);
    bench.hear(HalfOpen, 8, 0, 1);
    bench.exit(early, Failure);
    bench.exit_with(slow, Ending { elapsed: 100 * SECOND, ..ending(Success) });
    assert_eq!(bench.engine.probes_so_far().0.counts, Counts::default());
    assert_eq!(bench.engine.late(), Counts { calls: 2, failed: 1, slow: 1 });
}
