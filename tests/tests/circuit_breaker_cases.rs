//! Behaviours that users of circuit breakers have reported missing elsewhere.

#![allow(clippy::unwrap_used)] // the helpers are tests as well

use std::{
    future::{Future, pending, poll_fn},
    panic::AssertUnwindSafe,
    pin::pin,
    sync::{
        Arc, Barrier, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    task::Poll,
    time::Duration,
};

use resilience::{
    CallError, CircuitBreaker, CircuitBreakerConfig, Clock, ManualClock,
    circuit_breaker::{
        CircuitBreakerConfigBuilder, CircuitBreakerEventKind, Permit, SlidingWindowType, State,
    },
};

const SECOND: Duration = Duration::from_secs(1);
const MILLI: Duration = Duration::from_millis(1);

fn builder() -> CircuitBreakerConfigBuilder {
    CircuitBreakerConfig::builder().wait_duration_in_open_state(SECOND)
}

fn breaker(config: CircuitBreakerConfigBuilder) -> (CircuitBreaker, ManualClock) {
    let (clock, hand) = Clock::manual(Duration::from_secs(1_700_000_000));
    (CircuitBreaker::with_clock("case", config.build().unwrap(), clock), hand)
}

/// A breaker that is about to let its first probe in.
fn ready_to_probe(config: CircuitBreakerConfigBuilder) -> (CircuitBreaker, ManualClock) {
    let (breaker, hand) = breaker(config);
    breaker.transition_to(State::Open).unwrap();
    hand.advance(SECOND + MILLI);
    (breaker, hand)
}

fn fail(breaker: &CircuitBreaker, times: usize) {
    (0..times).for_each(|_| breaker.try_acquire().unwrap().failure());
}

fn succeed(breaker: &CircuitBreaker, times: usize) {
    (0..times).for_each(|_| breaker.try_acquire().unwrap().success());
}

/// The changes of state from now on, as `FROM->TO`.
fn transitions(breaker: &CircuitBreaker) -> Arc<Mutex<Vec<String>>> {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&heard);
    let subscription = breaker.events().subscribe(move |event| {
        if let CircuitBreakerEventKind::StateTransition { from, to, .. } = event.kind {
            log.lock().unwrap().push(format!("{from}->{to}"));
        }
    });
    subscription.forever();
    heard
}

async fn poll_once<F: Future>(future: F) -> Poll<F::Output> {
    let mut future = pin!(future);
    poll_fn(|cx| Poll::Ready(future.as_mut().poll(cx))).await
}

async fn give_tasks_a_turn() {
    for _ in 0..4 {
        tokio::task::yield_now().await;
    }
}

#[test]
fn a01_an_ignored_probe_gives_its_place_back() {
    let config =
        builder().permitted_number_of_calls_in_half_open_state(1).ignore_errors(["not_found"]);
    let (breaker, _hand) = ready_to_probe(config);
    assert!(breaker.try_acquire_permission());
    breaker.on_error(MILLI, &["not_found"]);
    assert!(breaker.try_acquire_permission());
    let metrics = breaker.metrics();
    assert_eq!(breaker.state(), State::HalfOpen);
    assert_eq!((metrics.totals.ignored, metrics.buffered_calls), (1, 0));
}

#[test]
fn a02_results_of_probes_do_not_expire_with_a_time_window() {
    let config = builder()
        .sliding_window_type(SlidingWindowType::TimeBased)
        .sliding_window_size(1)
        .minimum_number_of_calls(10)
        .permitted_number_of_calls_in_half_open_state(10);
    let (breaker, hand) = ready_to_probe(config);
    succeed(&breaker, 8);
    breaker.try_acquire().unwrap().ignore();
    drop(breaker.try_acquire().unwrap());
    hand.advance(Duration::from_millis(1_100));
    succeed(&breaker, 2);
    assert_eq!(breaker.state(), State::Closed);
}

#[tokio::test]
async fn a03_a_hanging_probe_does_not_pin_the_breaker_half_open() {
    let config = builder()
        .permitted_number_of_calls_in_half_open_state(1)
        .max_wait_duration_in_half_open_state(5 * SECOND);
    let (breaker, hand) = ready_to_probe(config);
    let hanging = breaker.try_acquire().unwrap();
    hand.advance(5 * SECOND);
    assert_eq!(breaker.state(), State::Open);
    assert_eq!(breaker.try_acquire().unwrap_err().state(), State::Open);
    hanging.success();
    assert_eq!(breaker.state(), State::Open);
    assert_eq!(breaker.metrics().buffered_calls, 0);
}

#[tokio::test]
async fn a04_dropped_probes_give_their_places_back_and_count_as_nothing() {
    let (breaker, _hand) =
        ready_to_probe(builder().permitted_number_of_calls_in_half_open_state(2));
    let first = breaker.call(pending::<Result<(), ()>>());
    let second = breaker.call(pending::<Result<(), ()>>());
    {
        let (mut first, mut second) = (pin!(first), pin!(second));
        assert!(poll_once(first.as_mut()).await.is_pending());
        assert!(poll_once(second.as_mut()).await.is_pending());
        assert!(breaker.try_acquire().is_err());
    }
    let metrics = breaker.metrics();
    assert_eq!((metrics.buffered_calls, metrics.totals.cancelled), (0, 2));
    let permits = [breaker.try_acquire(), breaker.try_acquire()];
    assert!(permits.iter().all(Result::is_ok));
}

#[tokio::test]
async fn a05_a_panicking_probe_counts_as_a_failure_and_frees_its_place() {
    let (breaker, hand) = ready_to_probe(builder().permitted_number_of_calls_in_half_open_state(1));
    let probe = {
        let breaker = breaker.clone();
        tokio::spawn(async move {
            let _ = breaker
                .call(async {
                    tokio::task::yield_now().await;
                    assert!(std::hint::black_box(false), "the probe panics");
                    Ok::<(), ()>(())
                })
                .await;
        })
    };
    assert!(probe.await.unwrap_err().is_panic());
    assert_eq!(breaker.state(), State::Open);
    assert_eq!(breaker.metrics().totals.failed, 1);
    hand.advance(SECOND + MILLI);
    assert_eq!(breaker.call(async { Ok::<_, ()>(1) }).await, Ok(1));
    assert_eq!(breaker.state(), State::Closed);
}

#[test]
fn a05_a_call_that_a_panicking_neighbour_takes_down_is_a_cancellation() {
    let (breaker, _hand) = breaker(builder());
    let unwound = std::panic::catch_unwind(AssertUnwindSafe(|| {
        let permit = breaker.try_acquire().unwrap();
        assert!(std::hint::black_box(false), "the neighbour panics");
        permit.success();
    }));
    assert!(unwound.is_err());
    let totals = breaker.metrics().totals;
    assert_eq!((totals.failed, totals.cancelled), (0, 1));
}

#[tokio::test]
async fn a05_a_healthy_branch_next_to_a_panicking_one_is_a_cancellation() {
    let (breaker, _hand) = breaker(builder());
    let both = {
        let breaker = breaker.clone();
        tokio::spawn(async move {
            let healthy = breaker.call(pending::<Result<(), ()>>());
            tokio::join!(healthy, async { assert!(std::hint::black_box(false), "boom") })
        })
    };
    assert!(both.await.unwrap_err().is_panic());
    let totals = breaker.metrics().totals;
    assert_eq!((totals.failed, totals.cancelled), (0, 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a07_no_more_than_the_permitted_probes_start_when_all_rush_in() {
    let (breaker, _hand) =
        ready_to_probe(builder().permitted_number_of_calls_in_half_open_state(10));
    let changes = transitions(&breaker);
    let started = Arc::new(AtomicUsize::new(0));
    let refused = Arc::new(AtomicUsize::new(0));
    let mut calls = tokio::task::JoinSet::new();
    for _ in 0..1_000 {
        let (breaker, started, refused) =
            (breaker.clone(), Arc::clone(&started), Arc::clone(&refused));
        calls.spawn(async move {
            let body = async {
                started.fetch_add(1, Ordering::Relaxed);
                pending::<Result<(), ()>>().await
            };
            if breaker.call(body).await.is_err() {
                refused.fetch_add(1, Ordering::Relaxed);
            }
        });
    }
    while started.load(Ordering::Relaxed) + refused.load(Ordering::Relaxed) < 1_000 {
        tokio::task::yield_now().await;
    }
    assert_eq!(started.load(Ordering::Relaxed), 10);
    assert_eq!(*changes.lock().unwrap(), ["OPEN->HALF_OPEN"]);
}

#[test]
fn a08_a_release_from_an_earlier_state_does_not_inflate_the_probes() {
    let (breaker, hand) = breaker(builder().permitted_number_of_calls_in_half_open_state(1));
    let earlier = breaker.try_acquire().unwrap();
    breaker.transition_to(State::Open).unwrap();
    hand.advance(SECOND + MILLI);
    let probe = breaker.try_acquire().unwrap();
    drop(earlier);
    assert!(breaker.try_acquire().is_err());
    drop(probe);
}

#[test]
fn a09_a_result_from_an_earlier_state_does_not_count_in_a_later_one() {
    let (breaker, hand) = breaker(builder().permitted_number_of_calls_in_half_open_state(3));
    let late = [breaker.try_acquire().unwrap(), breaker.try_acquire().unwrap()];
    breaker.transition_to(State::Open).unwrap();
    hand.advance(SECOND + MILLI);
    let _probe = breaker.try_acquire().unwrap();
    let [one, other] = late;
    one.failure();
    other.success();
    let metrics = breaker.metrics();
    assert_eq!((metrics.buffered_calls, metrics.failed_calls), (0, 0));
    assert_eq!((metrics.totals.failed, metrics.totals.successful), (1, 1));
}

#[test]
fn a10_a_minimum_above_the_permitted_probes_does_not_keep_the_breaker_from_deciding() {
    let config =
        builder().minimum_number_of_calls(10).permitted_number_of_calls_in_half_open_state(1);
    let (breaker, _hand) = ready_to_probe(config);
    succeed(&breaker, 1);
    assert_eq!(breaker.state(), State::Closed);
    let none = builder().permitted_number_of_calls_in_half_open_state(0).build();
    assert!(none.unwrap_err().to_string().contains("expected a whole number from 1"));
}

#[test]
fn a11_a_permit_that_a_handler_forgets_is_returned() {
    let (breaker, _hand) =
        ready_to_probe(builder().permitted_number_of_calls_in_half_open_state(1));
    let answer_404 = |breaker: &CircuitBreaker| -> Option<u16> {
        let _permit = breaker.try_acquire().ok()?;
        Some(404)
    };
    assert_eq!(answer_404(&breaker), Some(404));
    succeed(&breaker, 1);
    assert_eq!(breaker.state(), State::Closed);
}

#[test]
fn a11_what_is_not_recorded_as_a_failure_closes_the_breaker() {
    let config =
        builder().permitted_number_of_calls_in_half_open_state(1).record_errors(["http_5xx"]);
    let (breaker, _hand) = ready_to_probe(config);
    assert!(breaker.try_acquire_permission());
    breaker.on_error(MILLI, &["not_found", "http_4xx"]);
    assert_eq!(breaker.state(), State::Closed);
}

#[test]
fn a12_a_failed_probe_below_the_minimum_reopens() {
    let config =
        builder().minimum_number_of_calls(10).permitted_number_of_calls_in_half_open_state(1);
    let (breaker, _hand) = ready_to_probe(config);
    fail(&breaker, 1);
    assert_eq!(breaker.state(), State::Open);
}

#[test]
fn a13_a_probe_that_an_inner_breaker_refuses_can_be_neutral() {
    let (outer, _hand) = ready_to_probe(builder().permitted_number_of_calls_in_half_open_state(1));
    let (inner, inner_hand) = breaker(builder());
    inner.transition_to_open_for(20 * SECOND).unwrap();
    let probe = outer.try_acquire().unwrap();
    assert!(inner.try_acquire().is_err());
    probe.ignore();
    assert_eq!(outer.state(), State::HalfOpen);
    inner_hand.advance(20 * SECOND + MILLI);
    let probe = outer.try_acquire().unwrap();
    inner.try_acquire().unwrap().success();
    probe.success();
    assert_eq!(outer.state(), State::Closed);
}

#[test]
fn a14_probes_that_never_return_do_not_pin_the_breaker_and_the_time_shows() {
    let config = builder().permitted_number_of_calls_in_half_open_state(1).probe_lease(30 * SECOND);
    let (breaker, hand) = ready_to_probe(config);
    std::mem::forget(breaker.try_acquire().unwrap());
    hand.advance(30 * SECOND);
    assert_eq!(breaker.metrics().time_in_state, 30 * SECOND);
    succeed(&breaker, 1);
    assert_eq!(breaker.state(), State::Closed);
}

#[test]
fn a15_watching_an_open_breaker_does_not_keep_it_open() {
    let (breaker, hand) = breaker(builder().wait_duration_in_open_state(10 * SECOND));
    breaker.transition_to(State::Open).unwrap();
    for _ in 0..11 {
        hand.advance(SECOND);
        for _ in 0..32 {
            assert_eq!(breaker.state(), State::Open);
            assert_eq!(breaker.metrics().not_permitted_calls, 0);
        }
    }
    assert!(breaker.try_acquire().is_ok());
    assert_eq!(breaker.state(), State::HalfOpen);
}

#[test]
fn a17_one_failed_probe_of_twenty_does_not_reopen() {
    let config =
        builder().permitted_number_of_calls_in_half_open_state(20).minimum_number_of_calls(20);
    let (breaker, _hand) = ready_to_probe(config);
    fail(&breaker, 1);
    succeed(&breaker, 19);
    assert_eq!(breaker.state(), State::Closed);
}

#[test]
fn a18_the_window_starts_empty_after_half_open() {
    let (breaker, _hand) =
        ready_to_probe(builder().permitted_number_of_calls_in_half_open_state(2));
    succeed(&breaker, 2);
    let metrics = breaker.metrics();
    assert_eq!(breaker.state(), State::Closed);
    assert_eq!((metrics.buffered_calls, metrics.successful_calls), (0, 0));
}

#[test]
fn b01_the_end_of_the_wait_makes_one_transition_however_many_come() {
    let (breaker, _hand) =
        ready_to_probe(builder().permitted_number_of_calls_in_half_open_state(64));
    let changes = transitions(&breaker);
    let barrier = Barrier::new(8);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                barrier.wait();
                (0..8).for_each(|_| std::mem::forget(breaker.try_acquire().unwrap()));
            });
        }
    });
    assert_eq!(*changes.lock().unwrap(), ["OPEN->HALF_OPEN"]);
}

#[tokio::test]
async fn b03_a_timer_does_not_outlive_the_state_that_set_it() {
    let config = builder()
        .wait_duration_in_open_state(30 * SECOND)
        .automatic_transition_from_open_to_half_open_enabled(true);
    for state in [State::ForcedOpen, State::Disabled] {
        let (breaker, hand) = breaker(config.clone());
        breaker.transition_to(State::Open).unwrap();
        give_tasks_a_turn().await;
        hand.advance(10 * SECOND);
        breaker.transition_to(state).unwrap();
        hand.advance(21 * SECOND);
        give_tasks_a_turn().await;
        assert_eq!(breaker.state(), state);
    }
}

#[tokio::test]
async fn b03_a_reset_ends_the_timer_of_the_open_state() {
    let config = builder()
        .wait_duration_in_open_state(30 * SECOND)
        .automatic_transition_from_open_to_half_open_enabled(true);
    let (breaker, hand) = breaker(config);
    let changes = transitions(&breaker);
    breaker.transition_to(State::Open).unwrap();
    give_tasks_a_turn().await;
    hand.advance(10 * SECOND);
    breaker.reset();
    give_tasks_a_turn().await;
    hand.advance(10 * SECOND);
    breaker.transition_to(State::Open).unwrap();
    give_tasks_a_turn().await;
    hand.advance(10 * SECOND);
    give_tasks_a_turn().await;
    assert_eq!(breaker.state(), State::Open);
    hand.advance(20 * SECOND);
    give_tasks_a_turn().await;
    let expected = ["CLOSED->OPEN", "OPEN->CLOSED", "CLOSED->OPEN", "OPEN->HALF_OPEN"];
    assert_eq!(*changes.lock().unwrap(), expected);
}

#[test]
fn b04_a_breaker_probes_again_however_often_its_probes_fail() {
    let config = builder()
        .failure_rate_threshold(20.0)
        .minimum_number_of_calls(10)
        .permitted_number_of_calls_in_half_open_state(2)
        .wait_duration_in_open_state(5 * SECOND);
    let (breaker, hand) = breaker(config);
    fail(&breaker, 10);
    for _ in 0..100 {
        assert_eq!(breaker.state(), State::Open);
        hand.advance(5 * SECOND + MILLI);
        fail(&breaker, 2);
    }
}

#[test]
fn b05_a_breaker_survives_the_runtime_that_its_timer_ran_on() {
    let config = builder().automatic_transition_from_open_to_half_open_enabled(true);
    let (breaker, hand) = breaker(config);
    let changes = transitions(&breaker);
    let runtime = || tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime().block_on(async {
        breaker.transition_to(State::Open).unwrap();
        give_tasks_a_turn().await;
    });
    hand.advance(SECOND);
    assert_eq!(breaker.state(), State::HalfOpen);
    assert!(breaker.try_acquire().is_ok());
    runtime().block_on(async {
        breaker.transition_to(State::Open).unwrap();
        give_tasks_a_turn().await;
        hand.advance(SECOND);
        give_tasks_a_turn().await;
    });
    let expected = ["CLOSED->OPEN", "OPEN->HALF_OPEN", "HALF_OPEN->OPEN", "OPEN->HALF_OPEN"];
    assert_eq!(*changes.lock().unwrap(), expected);
}

#[test]
fn b06_failures_at_the_same_time_open_the_breaker_once() {
    let config = builder().sliding_window_size(30).minimum_number_of_calls(5);
    let (breaker, _hand) = breaker(config);
    let changes = transitions(&breaker);
    let permits: Vec<_> = (0..30).map(|_| breaker.try_acquire().unwrap()).collect();
    std::thread::scope(|scope| {
        for permit in permits {
            scope.spawn(|| permit.failure());
        }
    });
    assert_eq!(*changes.lock().unwrap(), ["CLOSED->OPEN"]);
}

#[test]
fn b07_failures_on_their_way_do_not_count_after_the_trip() {
    let config = builder().sliding_window_size(5);
    let (breaker, hand) = breaker(config);
    let on_their_way: Vec<_> = (0..10).map(|_| breaker.try_acquire().unwrap()).collect();
    fail(&breaker, 5);
    assert_eq!(breaker.state(), State::Open);
    let mut on_their_way = on_their_way.into_iter();
    on_their_way.by_ref().take(5).for_each(Permit::failure);
    assert_eq!(breaker.metrics().buffered_calls, 5);
    hand.advance(SECOND + MILLI);
    drop(breaker.try_acquire().unwrap());
    on_their_way.for_each(Permit::failure);
    assert_eq!(breaker.metrics().buffered_calls, 0);
}

#[test]
fn b12_states_that_were_set_by_hand_are_not_left_by_time() {
    for state in [State::ForcedOpen, State::Disabled, State::MetricsOnly] {
        let config = builder()
            .automatic_transition_from_open_to_half_open_enabled(true)
            .max_wait_duration_in_half_open_state(SECOND);
        let (breaker, hand) = breaker(config);
        breaker.transition_to(state).unwrap();
        hand.advance(3_600 * SECOND);
        let _ = breaker.try_acquire();
        assert_eq!(breaker.state(), state);
    }
}

#[test]
fn b12_metrics_only_records_and_never_refuses() {
    let (breaker, _hand) = breaker(builder().sliding_window_size(4));
    breaker.transition_to(State::MetricsOnly).unwrap();
    let exceeded = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&exceeded);
    let _subscription = breaker.events().subscribe(move |event| {
        if let CircuitBreakerEventKind::FailureRateExceeded { .. } = event.kind {
            counter.fetch_add(1, Ordering::Relaxed);
        }
    });
    fail(&breaker, 8);
    assert_eq!(breaker.metrics().failed_calls, 4);
    assert_eq!(exceeded.load(Ordering::Relaxed), 1);
}

#[test]
fn b12_disabled_records_nothing() {
    let (breaker, _hand) = breaker(builder());
    breaker.transition_to(State::Disabled).unwrap();
    let before = breaker.metrics();
    fail(&breaker, 8);
    breaker.on_error(MILLI, &[]);
    assert_eq!(breaker.metrics(), before);
}

#[test]
fn b14_breakers_that_opened_together_do_not_probe_together() {
    let config = builder()
        .wait_duration_in_open_state(60 * SECOND)
        .enable_randomized_wait(true)
        .randomized_wait_factor(0.15);
    let mut waits: Vec<_> = (0..1_000)
        .map(|_| {
            let (breaker, _hand) = breaker(config.clone());
            breaker.transition_to(State::Open).unwrap();
            breaker.try_acquire().unwrap_err().retry_after().unwrap()
        })
        .collect();
    waits.sort_unstable();
    assert!(waits[0] >= 51 * SECOND && waits[999] <= 69 * SECOND);
    assert!(waits.windows(51).all(|some| some[50] > some[0] + 200 * MILLI));
}

#[test]
fn c03_a_call_on_the_edge_of_a_second_counts_in_the_decision_it_causes() {
    let config = builder()
        .sliding_window_type(SlidingWindowType::TimeBased)
        .sliding_window_size(2)
        .minimum_number_of_calls(2);
    let (breaker, hand) = breaker(config);
    fail(&breaker, 1);
    hand.advance(SECOND);
    fail(&breaker, 1);
    assert_eq!(breaker.state(), State::Open);
}

#[test]
fn c05_windows_of_size_one_work() {
    for kind in [SlidingWindowType::CountBased, SlidingWindowType::TimeBased] {
        let config =
            builder().sliding_window_type(kind).sliding_window_size(1).minimum_number_of_calls(1);
        let (breaker, hand) = breaker(config);
        for _ in 0..10 {
            succeed(&breaker, 1);
            hand.advance(SECOND);
        }
        fail(&breaker, 1);
        assert_eq!(breaker.state(), State::Open);
    }
}

#[test]
fn c06_a_minimum_above_a_count_window_is_capped_by_it() {
    let config = builder().sliding_window_size(5).minimum_number_of_calls(10);
    let (breaker, _hand) = breaker(config);
    fail(&breaker, 4);
    assert_eq!(breaker.state(), State::Closed);
    fail(&breaker, 1);
    assert_eq!(breaker.state(), State::Open);
}

#[test]
fn c07_the_breaker_opens_at_the_minimum_and_not_one_call_earlier() {
    let config = builder()
        .sliding_window_size(10)
        .minimum_number_of_calls(10)
        .permitted_number_of_calls_in_half_open_state(5);
    let (breaker, _hand) = breaker(config);
    fail(&breaker, 9);
    assert_eq!(breaker.state(), State::Closed);
    assert!((breaker.metrics().failure_rate - -1.0).abs() < f32::EPSILON);
    fail(&breaker, 1);
    assert_eq!(breaker.state(), State::Open);
}

#[test]
fn c08_a_rate_that_equals_the_threshold_opens() {
    for (threshold, state) in [(50.0, State::Open), (51.0, State::Closed)] {
        let config = builder().sliding_window_size(10).failure_rate_threshold(threshold);
        let (breaker, _hand) = breaker(config);
        succeed(&breaker, 5);
        fail(&breaker, 5);
        assert_eq!(breaker.state(), state);
    }
}

#[test]
fn c10_failed_and_slow_calls_are_not_added_up() {
    let config = builder()
        .sliding_window_size(10)
        .failure_rate_threshold(50.0)
        .slow_call_rate_threshold(50.0);
    let (breaker, _hand) = breaker(config);
    (0..4).for_each(|_| breaker.on_success(MILLI));
    (0..3).for_each(|_| breaker.on_success(61 * SECOND));
    (0..3).for_each(|_| breaker.on_error(MILLI, &[]));
    assert_eq!(breaker.state(), State::Closed);
}

#[test]
fn c12_durations_beyond_all_bounds_are_only_slow() {
    let (breaker, hand) = breaker(builder());
    let permit = breaker.try_acquire().unwrap();
    hand.advance(Duration::MAX);
    permit.success();
    breaker.on_success(Duration::MAX);
    assert_eq!(breaker.metrics().slow_calls, 2);
}

#[tokio::test]
async fn a_refused_call_is_not_polled_and_says_who_refused() {
    let (breaker, _hand) = breaker(builder());
    breaker.transition_to(State::ForcedOpen).unwrap();
    let polled = AtomicUsize::new(0);
    let call = breaker.call(async {
        polled.fetch_add(1, Ordering::Relaxed);
        Ok::<(), &str>(())
    });
    let Err(CallError::Resilience(error)) = call.await else { panic!("not refused") };
    assert_eq!(polled.load(Ordering::Relaxed), 0);
    assert_eq!(
        error.to_string(),
        "CircuitBreaker 'case' is FORCED_OPEN and does not permit further calls"
    );
    assert_eq!(error.retry_after(), None);
}
