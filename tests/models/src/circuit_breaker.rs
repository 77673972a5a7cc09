use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use loom::sync::atomic::{
    AtomicBool,
    Ordering::{Acquire, Release},
};
use resilience::{
    CircuitBreaker, CircuitBreakerConfig, Clock,
    circuit_breaker::{CircuitBreakerEvent, CircuitBreakerEventKind, Permit, State},
    events::{Event, Subscription},
};

use crate::{explore, race};

const WAIT: Duration = Duration::from_secs(1);

/// Opens when the last `window` calls have all failed; half-open it makes `probes` probes.
fn breaker(window: u32, probes: u32, clock: Clock) -> CircuitBreaker {
    let config = CircuitBreakerConfig::builder()
        .sliding_window_size(window)
        .failure_rate_threshold(100.0)
        .permitted_number_of_calls_in_half_open_state(probes)
        .wait_duration_in_open_state(WAIT)
        .build()
        .unwrap();
    CircuitBreaker::with_clock("b", config, clock)
}

/// On the system's clock, whose reading is no step of a model.
fn closed(window: u32) -> CircuitBreaker {
    breaker(window, 1, Clock::system())
}

fn half_open(probes: u32) -> CircuitBreaker {
    let breaker = breaker(1, probes, Clock::system());
    breaker.transition_to(State::Open).unwrap();
    breaker.transition_to(State::HalfOpen).unwrap();
    breaker
}

/// An OPEN breaker that the next call makes half-open.
fn waited(probes: u32) -> CircuitBreaker {
    let (clock, hand) = Clock::manual(Duration::ZERO);
    let breaker = breaker(1, probes, clock);
    breaker.transition_to(State::Open).unwrap();
    hand.advance(WAIT + Duration::from_nanos(1));
    breaker
}

/// What a listener has heard. A lock of std, which is no step of a model.
type Heard<T> = Arc<Mutex<Vec<T>>>;

fn transitions(breaker: &CircuitBreaker) -> (Subscription, Heard<(State, State)>) {
    let heard = Heard::default();
    let subscription = breaker.events().subscribe({
        let heard = Arc::clone(&heard);
        move |event: &CircuitBreakerEvent| {
            if let CircuitBreakerEventKind::StateTransition { from, to, .. } = event.kind {
                heard.lock().unwrap().push((from, to));
            }
        }
    });
    (subscription, heard)
}

/// Makes a call that fails, if it is let in.
fn fail(breaker: &CircuitBreaker) -> bool {
    breaker.try_acquire().map(Permit::failure).is_ok()
}

#[test]
fn failures_of_two_threads_open_the_breaker_once_and_each_is_counted() {
    explore(|| {
        let breaker = closed(2);
        assert!(fail(&breaker));
        let (_subscription, heard) = transitions(&breaker);
        let other = breaker.clone();
        let (there, here) = race(move || fail(&other), || fail(&breaker));

        assert_eq!(*heard.lock().unwrap(), [(State::Closed, State::Open)]);
        assert_eq!(breaker.state(), State::Open);
        let metrics = breaker.metrics();
        let let_in = u64::from(there) + u64::from(here);
        assert!(let_in >= 1);
        assert_eq!(metrics.totals.failed, 1 + let_in);
        assert_eq!(metrics.totals.not_permitted, 2 - let_in);
        assert_eq!(metrics.totals.transitions, 1);
        assert_eq!((metrics.buffered_calls, metrics.failed_calls), (2, 2));
    });
}

#[test]
fn successes_and_failures_of_two_threads_are_all_in_the_window() {
    explore(|| {
        let breaker = closed(4);
        let other = breaker.clone();
        let both = |breaker: &CircuitBreaker| {
            breaker.try_acquire().unwrap().success();
            breaker.try_acquire().unwrap().failure();
        };
        race(move || both(&other), || both(&breaker));
        let metrics = breaker.metrics();
        assert_eq!((metrics.successful_calls, metrics.failed_calls), (2, 2));
        assert_eq!((metrics.totals.successful, metrics.totals.failed), (2, 2));
    });
}

/// One whose window is full of successes, so that the next is counted without the lock.
fn calm(window: u32) -> CircuitBreaker {
    let breaker = closed(window);
    (0..window).for_each(|_| breaker.try_acquire().unwrap().success());
    breaker
}

#[test]
fn a_success_in_a_calm_window_and_a_failure_are_both_counted() {
    explore(|| {
        let breaker = calm(2);
        let [good, bad] = [(); 2].map(|()| breaker.try_acquire().unwrap());
        race(move || good.success(), || bad.failure());
        let metrics = breaker.metrics();
        // The success came before the failure or after it; neither pushes the failure out.
        assert_eq!((metrics.buffered_calls, metrics.failed_calls), (2, 1));
        assert_eq!((metrics.totals.successful, metrics.totals.failed), (3, 1));
        // What follows a failure is in the window with it.
        breaker.try_acquire().unwrap().success();
        breaker.try_acquire().unwrap().success();
        assert_eq!(breaker.metrics().failed_calls, 0);
    });
}

#[test]
fn a_success_that_follows_a_failure_is_counted_after_it() {
    explore(|| {
        let breaker = calm(2);
        let other = breaker.clone();
        let done = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&done);
        race(
            move || {
                assert!(fail(&other));
                told.store(true, Release);
            },
            || {
                let comes_after = done.load(Acquire);
                let permit = breaker.try_acquire().unwrap();
                permit.success();
                if comes_after {
                    // One more pushes the failure out: the window saw the success.
                    breaker.try_acquire().unwrap().success();
                    assert_eq!(breaker.metrics().failed_calls, 0);
                }
            },
        );
    });
}

#[test]
fn a_refusal_that_races_a_reset_is_counted_once_and_not_in_the_new_state() {
    explore(|| {
        let breaker = closed(1);
        breaker.transition_to(State::Open).unwrap();
        let other = breaker.clone();
        let ((), let_in) = race(move || other.reset(), || breaker.try_acquire().is_ok());
        let metrics = breaker.metrics();
        assert_eq!(metrics.not_permitted_calls, 0);
        assert_eq!(metrics.totals.not_permitted, u64::from(!let_in));
    });
}

#[test]
fn refusals_of_two_threads_are_all_counted_while_somebody_looks() {
    explore(|| {
        let breaker = closed(1);
        breaker.transition_to(State::Open).unwrap();
        let other = breaker.clone();
        let (seen, ()) = race(
            move || {
                assert!(other.try_acquire().is_err());
                other.metrics().not_permitted_calls
            },
            || assert!(breaker.try_acquire().is_err()),
        );
        assert!((1..=2).contains(&seen));
        let metrics = breaker.metrics();
        assert_eq!((metrics.not_permitted_calls, metrics.totals.not_permitted), (2, 2));
    });
}

#[test]
fn a_result_that_races_a_change_by_hand_does_not_count_in_the_new_state() {
    explore(|| {
        let breaker = closed(1);
        let permit = breaker.try_acquire().unwrap();
        let other = breaker.clone();
        race(
            move || {
                other.transition_to(State::Open).unwrap();
                other.transition_to(State::Closed).unwrap();
            },
            || permit.failure(),
        );
        assert_eq!(breaker.state(), State::Closed);
        let metrics = breaker.metrics();
        assert_eq!((metrics.buffered_calls, metrics.totals.failed), (0, 1));
    });
}

#[test]
fn a_result_that_races_the_opening_does_not_count_in_the_open_state() {
    explore(|| {
        let breaker = closed(1);
        let [good, bad] = [(); 2].map(|()| breaker.try_acquire().unwrap());
        race(move || good.success(), || bad.failure());
        assert_eq!(breaker.state(), State::Open);
        let metrics = breaker.metrics();
        // The success is either pushed out of the window by the failure or too late for it.
        assert_eq!((metrics.successful_calls, metrics.failed_calls), (0, 1));
        assert_eq!((metrics.totals.successful, metrics.totals.failed), (1, 1));
    });
}

#[test]
fn of_two_threads_at_the_end_of_the_wait_one_gets_the_probe() {
    explore(|| {
        let breaker = waited(1);
        let (_subscription, heard) = transitions(&breaker);
        let other = breaker.clone();
        let (there, here) = race(move || other.try_acquire(), || breaker.try_acquire());
        assert_ne!(there.is_ok(), here.is_ok());
        assert_eq!(*heard.lock().unwrap(), [(State::Open, State::HalfOpen)]);
        assert_eq!(breaker.metrics().totals.not_permitted, 1);
        assert!(breaker.try_acquire().is_err());
    });
}

#[test]
fn of_three_threads_at_the_end_of_the_wait_two_get_the_two_probes() {
    explore(|| {
        let breaker = waited(2);
        let [second, third] = [(); 2].map(|()| breaker.clone());
        let (third, (second, first)) = race(
            move || third.try_acquire(),
            || race(move || second.try_acquire(), || breaker.try_acquire()),
        );
        let let_in = [&first, &second, &third].into_iter().filter(|call| call.is_ok()).count();
        assert_eq!(let_in, 2);
        assert_eq!(breaker.metrics().totals.transitions, 2);
    });
}

#[test]
fn two_probes_that_end_at_the_same_time_decide_once() {
    explore(|| {
        let breaker = half_open(2);
        let (_subscription, heard) = transitions(&breaker);
        let [good, bad] = [(); 2].map(|()| breaker.try_acquire().unwrap());
        race(move || good.success(), || bad.success());
        assert_eq!(*heard.lock().unwrap(), [(State::HalfOpen, State::Closed)]);
        assert_eq!(breaker.metrics().buffered_calls, 0);
    });
}

/// After a probe was given up while somebody asked for one: there is one place, and no second.
fn assert_one_place<P>(breaker: &CircuitBreaker, asked: &Result<P, impl Sized>) {
    let next = breaker.try_acquire();
    assert_ne!(asked.is_ok(), next.is_ok());
    assert!(breaker.try_acquire().is_err());
}

#[test]
fn l07_a_probe_that_is_dropped_while_another_call_asks_is_neither_lost_nor_doubled() {
    explore(|| {
        let breaker = half_open(1);
        let probe = breaker.try_acquire().unwrap();
        let ((), asked) = race(move || drop(probe), || breaker.try_acquire());
        assert_eq!(breaker.metrics().totals.cancelled, 1);
        assert_one_place(&breaker, &asked);
    });
}

#[test]
fn l07_a_probe_that_is_ignored_while_another_call_asks_is_neither_lost_nor_doubled() {
    explore(|| {
        let breaker = half_open(1);
        let probe = breaker.try_acquire().unwrap();
        let ((), asked) = race(move || probe.ignore(), || breaker.try_acquire());
        assert_eq!(breaker.metrics().totals.ignored, 1);
        assert_one_place(&breaker, &asked);
    });
}

#[test]
fn l07_a_probe_that_is_dropped_while_another_starts_frees_one_place() {
    explore(|| {
        let breaker = half_open(2);
        let probe = breaker.try_acquire().unwrap();
        let ((), _started) = race(move || drop(probe), || breaker.try_acquire().unwrap());
        let _place = breaker.try_acquire().unwrap();
        assert!(breaker.try_acquire().is_err());
    });
}

#[test]
fn a_probe_that_is_dropped_while_the_breaker_opens_anew_frees_no_place_of_the_next_probes() {
    explore(|| {
        let breaker = half_open(1);
        let probe = breaker.try_acquire().unwrap();
        let other = breaker.clone();
        let (_next, ()) = race(
            move || {
                other.transition_to(State::Open).unwrap();
                other.transition_to(State::HalfOpen).unwrap();
                other.try_acquire().unwrap()
            },
            || drop(probe),
        );
        assert!(breaker.try_acquire().is_err());
    });
}

#[test]
fn a_reset_that_races_a_result_leaves_a_closed_breaker_without_calls() {
    explore(|| {
        let breaker = closed(1);
        let permit = breaker.try_acquire().unwrap();
        let (_subscription, heard) = transitions(&breaker);
        let other = breaker.clone();
        race(move || other.reset(), || permit.failure());
        assert_eq!(breaker.state(), State::Closed);
        let metrics = breaker.metrics();
        assert_eq!((metrics.buffered_calls, metrics.totals.failed), (0, 1));
        let heard = heard.lock().unwrap();
        assert!(matches!(
            **heard,
            [] | [(State::Closed, State::Open), (State::Open, State::Closed)]
        ));
    });
}

#[test]
fn a_call_that_races_a_reset_counts_in_the_state_that_let_it_in() {
    explore(|| {
        let breaker = closed(1);
        let other = breaker.clone();
        race(move || other.reset(), || assert!(fail(&breaker)));
        let metrics = breaker.metrics();
        let expected = match breaker.state() {
            State::Closed => 0,
            state => {
                assert_eq!(state, State::Open);
                1
            }
        };
        assert_eq!((metrics.buffered_calls, metrics.failed_calls), (expected, expected));
    });
}

#[test]
fn a_breaker_that_is_forced_open_stays_so_whatever_call_ends_meanwhile() {
    explore(|| {
        let breaker = closed(1);
        let other = breaker.clone();
        let ((), let_in) = race(
            move || {
                other.transition_to(State::ForcedOpen).unwrap();
                assert!(other.try_acquire().is_err());
            },
            || fail(&breaker),
        );
        assert_eq!(breaker.state(), State::ForcedOpen);
        let metrics = breaker.metrics();
        assert_eq!((metrics.buffered_calls, metrics.totals.failed), (0, u64::from(let_in)));
    });
}

#[test]
fn an_observer_sees_one_moment_and_what_it_saw_holds_for_its_next_call() {
    explore(|| {
        let breaker = closed(1);
        let other = breaker.clone();
        race(
            move || assert!(fail(&other)),
            || {
                let metrics = breaker.metrics();
                let opened = metrics.totals.transitions;
                assert_eq!((metrics.failed_calls, metrics.totals.failed), (opened, opened));
                if opened == 1 {
                    assert!(breaker.try_acquire().is_err());
                    assert_eq!(breaker.state(), State::Open);
                } else if breaker.state() == State::Open {
                    assert_eq!(breaker.metrics().failed_calls, 1);
                }
            },
        );
        assert_eq!(breaker.metrics().totals.transitions, 1);
    });
}

#[test]
fn a_call_that_was_told_of_a_change_meets_the_new_state() {
    explore(|| {
        let breaker = closed(1);
        let told = Arc::new(AtomicBool::new(false));
        let _subscription = breaker.events().subscribe({
            let told = Arc::clone(&told);
            move |_: &CircuitBreakerEvent| told.store(true, Release)
        });
        let other = breaker.clone();
        race(
            move || other.transition_to(State::ForcedOpen).unwrap(),
            || {
                if told.load(Acquire) {
                    assert!(breaker.try_acquire().is_err());
                }
            },
        );
    });
}

#[test]
fn observers_take_no_probe_and_change_no_state() {
    explore(|| {
        let breaker = waited(1);
        let other = breaker.clone();
        let ((), probe) = race(
            move || {
                let before = other.state();
                let metrics = other.metrics();
                assert!(matches!(before, State::Open | State::HalfOpen));
                assert!(before == State::Open || metrics.totals.transitions == 2);
                assert_eq!(metrics.not_permitted_calls, 0);
            },
            || breaker.try_acquire(),
        );
        assert!(probe.is_ok());
        assert_eq!(breaker.metrics().totals.transitions, 2);
    });
}

#[test]
fn changes_by_two_threads_are_heard_once_each_and_in_the_order_in_which_they_came() {
    explore(|| {
        let breaker = closed(1);
        let (_subscription, heard) = transitions(&breaker);
        let other = breaker.clone();
        race(
            move || other.transition_to(State::Open).unwrap(),
            || breaker.transition_to(State::ForcedOpen).unwrap(),
        );
        let heard = heard.lock().unwrap();
        assert_eq!(heard.len(), 2, "also what came while another thread was delivering");
        assert_eq!(heard[0].0, State::Closed);
        assert_eq!(heard[0].1, heard[1].0);
        assert_eq!(heard[1].1, breaker.state());
    });
}

#[test]
fn a_listener_that_comes_during_a_change_hears_it_at_most_once_and_the_next_for_certain() {
    explore(|| {
        let breaker = closed(1);
        let (_subscription, old) = transitions(&breaker);
        let other = breaker.clone();
        let ((), (_late, new)) =
            race(move || other.transition_to(State::Open).unwrap(), || transitions(&breaker));
        let before = new.lock().unwrap().len();
        assert!(before <= 1);
        breaker.transition_to(State::Closed).unwrap();
        assert_eq!(new.lock().unwrap().len(), before + 1);
        let all = [(State::Closed, State::Open), (State::Open, State::Closed)];
        assert_eq!(*old.lock().unwrap(), all);
    });
}

#[test]
fn a_listener_that_leaves_during_a_change_takes_nothing_from_the_others() {
    explore(|| {
        let breaker = closed(1);
        let (leaving, gone) = transitions(&breaker);
        let (_staying, heard) = transitions(&breaker);
        let other = breaker.clone();
        race(move || other.transition_to(State::Open).unwrap(), || drop(leaving));
        let before = gone.lock().unwrap().len();
        assert!(before <= 1);
        breaker.transition_to(State::Closed).unwrap();
        assert_eq!(gone.lock().unwrap().len(), before);
        assert_eq!(heard.lock().unwrap().len(), 2);
    });
}

#[test]
fn of_listeners_that_come_and_go_at_the_same_time_those_who_stay_hear() {
    explore(|| {
        let breaker = closed(1);
        let (leaving, gone) = transitions(&breaker);
        let other = breaker.clone();
        let ((), (_coming, heard)) = race(move || drop(leaving), || transitions(&other));
        breaker.transition_to(State::Open).unwrap();
        assert_eq!((gone.lock().unwrap().len(), heard.lock().unwrap().len()), (0, 1));
        assert_eq!(breaker.events().subscribers(), 1);
    });
}

#[test]
fn what_is_kept_of_a_change_and_a_call_stands_in_the_order_of_the_totals() {
    explore(|| {
        let breaker = closed(1);
        breaker.events().capture(true);
        let types = Heard::default();
        let _subscription = breaker.events().subscribe({
            let types = Arc::clone(&types);
            move |event: &CircuitBreakerEvent| types.lock().unwrap().push(event.type_name())
        });
        let permit = breaker.try_acquire().unwrap();
        let other = breaker.clone();
        race(move || other.transition_to(State::Open).unwrap(), || permit.failure());
        let kept: Vec<_> = breaker.events().recent().iter().map(|e| e.type_name).collect();
        assert_eq!(*types.lock().unwrap(), kept);
        let failure = kept.iter().position(|name| *name == "ERROR");
        assert!(failure.is_some());
        assert_eq!(kept.iter().filter(|name| **name == "STATE_TRANSITION").count(), 1);
    });
}
