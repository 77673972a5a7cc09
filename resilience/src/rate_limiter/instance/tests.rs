use std::{
    pin::{Pin, pin},
    task::{Context, Poll, Waker},
};

use super::{super::Refill, *};
use crate::{
    ManualClock,
    events::Event,
    sync::Mutex,
    test_support::{Wakes, poll},
};

const SECOND: Duration = Duration::from_secs(1);

fn limiter(limit: u32, timeout: Duration) -> (RateLimiter, ManualClock) {
    let (clock, hand) = Clock::manual(Duration::ZERO);
    let config = RateLimiterConfig::builder()
        .limit_for_period(limit)
        .limit_refresh_period(SECOND)
        .timeout_duration(timeout)
        .build()
        .unwrap();
    (RateLimiter::with_clock("orders", config, clock), hand)
}

fn totals(limiter: &RateLimiter) -> (u64, u64, u64) {
    let metrics = limiter.metrics();
    (metrics.permitted, metrics.refused, metrics.cancelled)
}

#[test]
fn a_call_waits_for_the_next_period() {
    let (limiter, hand) = limiter(1, SECOND);
    limiter.try_acquire(1).unwrap();
    let mut turn = pin!(limiter.acquire(1));
    assert!(poll(turn.as_mut()).is_pending());
    assert_eq!(limiter.waiting(), 1);
    hand.advance(SECOND);
    assert_eq!(poll(turn), Poll::Ready(Ok(())));
    assert_eq!(limiter.waiting(), 0);
    assert_eq!(totals(&limiter), (2, 0, 0));
}

#[test]
fn a_call_that_finds_a_permission_does_not_wait() {
    let (limiter, _hand) = limiter(1, SECOND);
    assert_eq!(poll(pin!(limiter.acquire(1))), Poll::Ready(Ok(())));
    assert_eq!(limiter.waiting(), 0);
    assert_eq!(totals(&limiter), (1, 0, 0));
}

#[test]
fn the_metrics_look_ahead_and_count_periods() {
    for refill in [Refill::Interval, Refill::Greedy] {
        let (limiter, hand) = limiter(1, SECOND);
        limiter.reconfigure(limiter.config().to_builder().refill(refill).build().unwrap());
        limiter.try_acquire(1).unwrap();
        hand.advance(SECOND * 5 / 2);
        limiter.try_acquire(1).unwrap();
        let metrics = limiter.metrics();
        assert_eq!((metrics.cycle, metrics.available_permissions), (2, 0), "{refill:?}");
        let wait = if refill == Refill::Interval { SECOND / 2 } else { SECOND };
        assert_eq!(metrics.time_to_wait, wait, "{refill:?}");
    }
}

#[test]
fn draining_tells_how_much_it_took() {
    let (limiter, _hand) = limiter(3, SECOND);
    limiter.try_acquire(1).unwrap();
    limiter.drain();
    assert_eq!(limiter.events().recent()[0].text, "RateLimiter 'orders' was drained of 2");
}

#[test]
fn a_wait_that_cannot_succeed_is_refused_at_the_first_poll() {
    let (limiter, _hand) = limiter(1, SECOND / 2);
    limiter.try_acquire(1).unwrap();
    let Poll::Ready(Err(error)) = poll(pin!(limiter.acquire(1))) else { panic!() };
    assert_eq!(error.retry_after(), Some(SECOND));
    assert_eq!(error.to_string(), "RateLimiter 'orders' does not permit further calls");
    assert_eq!(totals(&limiter), (1, 1, 0));
}

#[test]
fn a_dropped_wait_gives_its_reservation_back() {
    let (limiter, _hand) = limiter(1, SECOND);
    limiter.try_acquire(1).unwrap();
    {
        let mut turn = pin!(limiter.acquire(1));
        assert!(poll(turn.as_mut()).is_pending());
        assert_eq!(limiter.available_permissions(), -1);
    }
    assert_eq!(limiter.available_permissions(), 0);
    assert_eq!(limiter.waiting(), 0);
    assert_eq!(totals(&limiter), (1, 0, 1));
}

#[test]
fn a_wait_that_is_dropped_after_its_turn_came_is_spent() {
    let (limiter, hand) = limiter(1, SECOND);
    limiter.try_acquire(1).unwrap();
    {
        let mut turn = pin!(limiter.acquire(1));
        assert!(poll(turn.as_mut()).is_pending());
        hand.advance(SECOND);
    }
    assert_eq!(limiter.available_permissions(), 0);
}

#[test]
fn a_turn_outside_of_a_runtime_panics_and_gives_the_reservation_back() {
    let config = limiter(1, Duration::from_hours(1)).0.config().to_builder();
    let config = config.limit_refresh_period(Duration::from_hours(1)).build().unwrap();
    let limiter = RateLimiter::new("orders", config);
    limiter.try_acquire(1).unwrap();
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let _ = poll(pin!(limiter.acquire(1)));
    }));
    assert!(outcome.is_err());
    assert_eq!(limiter.waiting(), 0);
    assert_eq!(limiter.available_permissions(), 0);
}

#[test]
fn try_acquire_never_waits() {
    let (limiter, _hand) = limiter(1, SECOND);
    limiter.try_acquire(1).unwrap();
    let error = limiter.try_acquire(1).unwrap_err();
    assert_eq!(error.retry_after(), Some(SECOND));
    assert_eq!(limiter.available_permissions(), 0);
}

#[test]
fn a_call_returns_what_its_body_returns() {
    let (limiter, _hand) = limiter(2, Duration::ZERO);
    assert_eq!(poll(pin!(limiter.call(async { Ok::<_, ()>(1) }))), Poll::Ready(Ok(1)));
    let failed = poll(pin!(limiter.call(async { Err::<(), _>(2) })));
    assert_eq!(failed, Poll::Ready(Err(CallError::Inner(2))));
    let refused = poll(pin!(limiter.call(async { Ok::<_, ()>(3) })));
    assert!(matches!(refused, Poll::Ready(Err(CallError::Resilience(_)))));
}

#[test]
fn the_events_of_a_wait_come_at_its_end() {
    let (limiter, hand) = limiter(1, SECOND);
    limiter.events().capture(true);
    limiter.try_acquire(1).unwrap();
    limiter.try_acquire(1).unwrap_err();
    let mut turn = pin!(limiter.acquire(1));
    assert!(poll(turn.as_mut()).is_pending());
    assert_eq!(limiter.events().recent().len(), 2);
    hand.advance(SECOND);
    assert!(poll(turn).is_ready());
    limiter.drain();
    let types: Vec<_> = limiter.events().recent().iter().map(|e| e.type_name).collect();
    assert_eq!(types, ["SUCCESSFUL_ACQUIRE", "FAILED_ACQUIRE", "SUCCESSFUL_ACQUIRE", "DRAINED"]);
}

#[test]
fn an_event_names_its_limiter_and_its_time() {
    let (limiter, hand) = limiter(2, SECOND);
    hand.advance(SECOND);
    let heard = Arc::new(Mutex::new(Vec::new()));
    let _subscription = limiter.events().subscribe({
        let heard = Arc::clone(&heard);
        move |event: &RateLimiterEvent| heard.lock().push(event.clone())
    });
    limiter.try_acquire(2).unwrap();
    let heard = heard.lock();
    assert_eq!(heard[0].instance(), "orders");
    assert_eq!(heard[0].created_at_nanos(), 1_000_000_000);
    assert_eq!(heard[0].kind, RateLimiterEventKind::SuccessfulAcquire { permits: 2 });
    assert_eq!(heard[0].to_string(), "RateLimiter 'orders' permitted 2");
}

#[test]
fn a_listener_may_use_the_limiter() {
    let (limiter, _hand) = limiter(2, Duration::ZERO);
    let (inner, seen) = (limiter.clone(), Arc::new(Mutex::new(Vec::new())));
    // Told outside: what a listener panics with is swallowed.
    let _subscription = limiter.events().subscribe({
        let seen = Arc::clone(&seen);
        move |_: &RateLimiterEvent| seen.lock().push(inner.available_permissions())
    });
    limiter.try_acquire(1).unwrap();
    assert_eq!(*seen.lock(), [1]);
}

#[test]
fn a_limit_of_zero_is_refused_and_changes_nothing() {
    let (limiter, _hand) = limiter(2, Duration::ZERO);
    assert!(limiter.change_limit_for_period(0).is_err());
    assert!(limiter.change_timeout_duration(Duration::MAX).is_err());
    assert_eq!(limiter.config().limit_for_period(), 2);
}

#[test]
fn a_new_timeout_acts_at_once() {
    let (limiter, _hand) = limiter(1, Duration::ZERO);
    assert_eq!(limiter.reserve(1), Some(Duration::ZERO));
    assert_eq!(limiter.reserve(1), None);
    limiter.change_timeout_duration(SECOND).unwrap();
    assert_eq!(limiter.reserve(1), Some(SECOND));
}

#[test]
fn no_change_of_the_settings_grants_a_burst() {
    let (limiter, hand) = limiter(10, Duration::ZERO);
    limiter.try_acquire(10).unwrap();
    for refill in [Refill::Greedy, Refill::Interval] {
        let config = limiter.config().to_builder().refill(refill);
        limiter.reconfigure(config.limit_for_period(1000).build().unwrap());
        assert_eq!(limiter.available_permissions(), 0, "{refill:?}");
    }
    let config = limiter.config().to_builder().limit_refresh_period(SECOND * 2);
    limiter.reconfigure(config.build().unwrap());
    hand.advance(SECOND);
    assert_eq!(limiter.available_permissions(), 0);
    hand.advance(SECOND);
    assert_eq!(limiter.available_permissions(), 1000);
}

#[test]
fn a_place_of_a_replaced_engine_is_not_given_back_to_the_new_one() {
    let (limiter, _hand) = limiter(1, SECOND);
    limiter.try_acquire(1).unwrap();
    {
        let mut turn = pin!(limiter.acquire(1));
        assert!(poll(turn.as_mut()).is_pending());
        let config = limiter.config().to_builder().limit_refresh_period(SECOND * 2);
        limiter.reconfigure(config.build().unwrap());
        assert_eq!(limiter.available_permissions(), -1);
    }
    assert_eq!(limiter.available_permissions(), -1);
    assert_eq!(limiter.waiting(), 0);
}

#[test]
fn two_changes_at_once_both_take_effect_and_are_made_outside_of_the_lock() {
    let (limiter, _hand) = limiter(2, Duration::ZERO);
    let other = std::cell::Cell::new(Some(SECOND));
    let changed = limiter.change(|config| {
        if let Some(timeout) = other.take() {
            limiter.change_timeout_duration(timeout).unwrap();
        }
        config.limit_for_period(3)
    });
    changed.unwrap();
    assert_eq!(limiter.config().limit_for_period(), 3);
    assert_eq!(limiter.config().timeout_duration(), SECOND);
}

#[test]
fn disabling_a_limiter_lets_through_who_waits() {
    let (limiter, _hand) = limiter(1, SECOND);
    limiter.try_acquire(1).unwrap();
    let count = Arc::new(Wakes::default());
    let waker = Waker::from(Arc::clone(&count));
    let mut wait = pin!(limiter.acquire(1));
    assert!(wait.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    limiter.reconfigure(limiter.config().to_builder().enabled(false).build().unwrap());
    assert_eq!(count.0.load(Ordering::Relaxed), 1);
    assert_eq!(poll(wait), Poll::Ready(Ok(())));
    assert_eq!(limiter.waiting(), 0);
}

#[test]
fn disabling_a_limiter_lets_threads_through_that_wait() {
    let (limiter, _hand) = limiter(1, SECOND);
    limiter.try_acquire(1).unwrap();
    let thread = std::thread::spawn({
        let limiter = limiter.clone();
        move || limiter.acquire_blocking(1)
    });
    while limiter.waiting() == 0 {
        std::thread::yield_now();
    }
    limiter.reconfigure(limiter.config().to_builder().enabled(false).build().unwrap());
    assert_eq!(thread.join().unwrap(), Ok(()));
    assert_eq!(limiter.waiting(), 0);
    assert_eq!(limiter.acquire_blocking(1), Ok(()));
}

#[test]
fn a_wait_that_begins_just_as_the_limiter_is_disabled_is_none() {
    let (limiter, _hand) = limiter(1, SECOND);
    limiter.try_acquire(1).unwrap();
    let wait = limiter.wait(limiter.begin(1, u64::MAX, 0).unwrap().unwrap());
    limiter.reconfigure(limiter.config().to_builder().enabled(false).build().unwrap());
    assert_eq!(poll(pin!(wait)), Poll::Ready(Ok(())));
}

/// A limiter that was disabled just after it had given a ticket.
fn disabled_with_a_ticket() -> (RateLimiter, Ticket) {
    let (limiter, _hand) = limiter(1, SECOND);
    limiter.try_acquire(1).unwrap();
    let taken = limiter.request(1, u64::MAX, Claim::Tied, 0).unwrap();
    let Taken::Later { ticket: Some(ticket), .. } = taken else {
        panic!("there is nothing left to take")
    };
    limiter.reconfigure(limiter.config().to_builder().enabled(false).build().unwrap());
    (limiter, Ticket::Turn(ticket))
}

#[test]
fn a_wait_that_begins_just_after_the_limiter_was_disabled_is_none() {
    let (limiter, ticket) = disabled_with_a_ticket();
    let wait = Wait::new(limiter, ticket);
    assert_eq!(poll(pin!(wait)), Poll::Ready(Ok(())));
}

#[test]
fn a_blocking_wait_that_begins_just_after_the_limiter_was_disabled_is_none() {
    let (limiter, ticket) = disabled_with_a_ticket();
    wait::park(&limiter, ticket).unwrap();
    assert_eq!(limiter.waiting(), 0);
}

#[test]
fn who_was_let_through_by_disabling_waits_no_more_when_the_limiter_is_enabled_again() {
    let (limiter, _hand) = limiter(1, SECOND);
    limiter.try_acquire(1).unwrap();
    let mut wait = pin!(limiter.acquire(1));
    assert!(poll(wait.as_mut()).is_pending());
    for enabled in [false, true] {
        let config = limiter.config().to_builder().enabled(enabled);
        limiter.reconfigure(config.build().unwrap());
    }
    assert_eq!(poll(wait), Poll::Ready(Ok(())));
}

#[test]
fn whom_disabling_let_through_owes_nothing_and_is_not_counted() {
    for refill in [Refill::Interval, Refill::Greedy] {
        let (limiter, hand) = limiter(10, SECOND * 100);
        limiter.reconfigure(limiter.config().to_builder().refill(refill).build().unwrap());
        limiter.try_acquire(10).unwrap();
        let mut waiting: Vec<_> = (0..600).map(|_| Box::pin(limiter.acquire(1))).collect();
        assert!(waiting.iter_mut().all(|wait| poll(wait.as_mut()).is_pending()));
        limiter.set_enabled(false);
        assert_eq!(limiter.waiting(), 0);
        assert!(waiting.into_iter().all(|mut wait| poll(wait.as_mut()).is_ready()));
        hand.advance(SECOND);
        limiter.set_enabled(true);
        assert_eq!(limiter.available_permissions(), 10, "{refill:?}");
        assert_eq!(totals(&limiter), (1, 0, 0), "{refill:?}");
    }
}

#[test]
fn a_call_that_meets_a_limiter_just_disabled_takes_nothing() {
    let (limiter, _hand) = limiter(1, SECOND);
    limiter.try_acquire(1).unwrap();
    limiter.set_enabled(false);
    assert!(matches!(limiter.request(1, u64::MAX, Claim::Tied, 0), Ok(Taken::Now)));
    assert_eq!((limiter.waiting(), limiter.available_permissions()), (0, 0));
}

/// Ten calls that wait for one permission a second, and the hand of their clock.
fn ten_waiting(refill: Refill) -> (RateLimiter, ManualClock) {
    let (limiter, hand) = limiter(1, SECOND * 100);
    limiter.reconfigure(limiter.config().to_builder().refill(refill).build().unwrap());
    limiter.try_acquire(1).unwrap();
    (limiter, hand)
}

/// How many of those that wait have gone on, by half seconds; they must go in their order.
fn pace(hand: &ManualClock, waiting: Vec<impl Future>) -> Vec<usize> {
    let mut waiting: Vec<_> = waiting.into_iter().map(Box::pin).collect();
    let mut gone = Vec::new();
    while !waiting.is_empty() {
        hand.advance(SECOND / 2);
        let ready: Vec<_> = waiting.iter_mut().map(|w| poll(w.as_mut()).is_ready()).collect();
        assert!(ready.is_sorted_by(|a, b| a >= b), "out of order: {ready:?}");
        let count = ready.into_iter().filter(|ready| *ready).count();
        waiting.drain(..count);
        gone.push(count);
    }
    gone
}

fn wait_ten_times(
    limiter: &RateLimiter,
) -> Vec<Pin<Box<impl Future<Output = Result<(), RequestNotPermitted>> + use<'_>>>> {
    let mut waiting: Vec<_> = (0..10).map(|_| Box::pin(limiter.acquire(1))).collect();
    assert!(waiting.iter_mut().all(|wait| poll(wait.as_mut()).is_pending()));
    waiting
}

#[test]
fn a_higher_limit_lets_in_those_that_wait_with_the_next_refill() {
    let expected = [(Refill::Interval, vec![0, 4, 0, 4, 0, 2]), (Refill::Greedy, vec![2; 5])];
    for (refill, expected) in expected {
        let (limiter, hand) = ten_waiting(refill);
        let waiting = wait_ten_times(&limiter);
        limiter.change_limit_for_period(4).unwrap();
        assert_eq!(limiter.waiting(), 10);
        assert_eq!(pace(&hand, waiting), expected, "{refill:?}");
        assert_eq!(totals(&limiter), (11, 0, 0));
    }
}

#[test]
fn a_shorter_period_lets_in_those_that_wait_earlier() {
    for refill in [Refill::Interval, Refill::Greedy] {
        let (limiter, hand) = ten_waiting(refill);
        let waiting = wait_ten_times(&limiter);
        let config = limiter.config().to_builder().limit_refresh_period(SECOND / 2);
        limiter.reconfigure(config.build().unwrap());
        assert_eq!(pace(&hand, waiting), [1; 10], "{refill:?}");
    }
}

#[test]
fn another_refill_keeps_those_that_wait_within_its_limit() {
    for (from, to) in [(Refill::Interval, Refill::Greedy), (Refill::Greedy, Refill::Interval)] {
        let (limiter, hand) = ten_waiting(from);
        let waiting = wait_ten_times(&limiter);
        limiter.reconfigure(limiter.config().to_builder().refill(to).build().unwrap());
        assert_eq!(limiter.available_permissions(), -10, "{to:?}");
        assert_eq!(pace(&hand, waiting), [0, 1].repeat(10), "{to:?}");
    }
}

#[test]
fn under_a_lower_limit_those_that_wait_keep_their_turns() {
    for refill in [Refill::Interval, Refill::Greedy] {
        let (limiter, hand) = limiter(2, SECOND * 100);
        limiter.reconfigure(limiter.config().to_builder().refill(refill).build().unwrap());
        limiter.try_acquire(2).unwrap();
        let waiting = wait_ten_times(&limiter);
        limiter.change_limit_for_period(1).unwrap();
        let kept = if refill == Refill::Interval { [0, 2].repeat(5) } else { vec![1; 10] };
        assert_eq!(pace(&hand, waiting), kept, "{refill:?}");
    }
}

#[test]
fn a_limit_that_goes_down_and_up_again_makes_nobody_wait_longer() {
    for refill in [Refill::Interval, Refill::Greedy] {
        let (limiter, hand) = ten_waiting(refill);
        let waiting = wait_ten_times(&limiter);
        let period = |period| {
            let config = limiter.config().to_builder().limit_refresh_period(period);
            limiter.reconfigure(config.build().unwrap());
        };
        period(SECOND * 60);
        period(SECOND * 30);
        assert_eq!(pace(&hand, waiting), [0, 1].repeat(10), "{refill:?}");
    }
}

#[test]
fn a_higher_limit_wakes_those_that_wait() {
    let (limiter, _hand) = limiter(1, SECOND);
    limiter.try_acquire(1).unwrap();
    let count = Arc::new(Wakes::default());
    let waker = Waker::from(Arc::clone(&count));
    let mut wait = pin!(limiter.acquire(1));
    assert!(wait.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    limiter.change_limit_for_period(2).unwrap();
    assert_eq!(count.0.load(Ordering::Relaxed), 1);
    assert!(poll(wait).is_pending());
}

#[test]
fn a_wait_that_was_moved_gives_back_what_is_booked_for_it_now() {
    for refill in [Refill::Interval, Refill::Greedy] {
        let (limiter, _hand) = ten_waiting(refill);
        let waiting = wait_ten_times(&limiter);
        limiter.change_limit_for_period(4).unwrap();
        assert_eq!(limiter.available_permissions(), -10, "{refill:?}");
        drop(waiting);
        assert_eq!(limiter.available_permissions(), 0, "{refill:?}");
    }
}

#[test]
fn a_turn_that_has_come_is_not_booked_again() {
    for refill in [Refill::Interval, Refill::Greedy] {
        let (limiter, hand) = ten_waiting(refill);
        let waiting = wait_ten_times(&limiter);
        hand.advance(SECOND * 10);
        limiter.change_limit_for_period(4).unwrap();
        assert_eq!(limiter.available_permissions(), 0, "{refill:?}");
        drop(waiting);
        assert_eq!(limiter.available_permissions(), 0, "{refill:?}");
    }
}

#[test]
fn what_was_told_to_callers_that_wait_by_themselves_stays() {
    let (limiter, hand) = ten_waiting(Refill::Interval);
    assert_eq!(limiter.reserve(1), Some(SECOND));
    let waiting = wait_ten_times(&limiter);
    limiter.change_limit_for_period(4).unwrap();
    assert_eq!(pace(&hand, waiting), [0, 3, 0, 4, 0, 3]);
}

#[test]
fn a_higher_limit_lets_in_threads_that_wait() {
    let (limiter, hand) = ten_waiting(Refill::Interval);
    let threads: Vec<_> = (0..10)
        .map(|_| {
            let limiter = limiter.clone();
            std::thread::spawn(move || limiter.acquire_blocking(1))
        })
        .collect();
    while limiter.waiting() < 10 {
        std::thread::yield_now();
    }
    limiter.change_limit_for_period(10).unwrap();
    hand.advance(SECOND);
    assert!(threads.into_iter().all(|thread| thread.join().unwrap().is_ok()));
}

#[test]
fn a_new_limit_cuts_a_greedy_burst_at_once() {
    let (limiter, _hand) = limiter(10, Duration::ZERO);
    limiter.reconfigure(limiter.config().to_builder().refill(Refill::Greedy).build().unwrap());
    limiter.change_limit_for_period(2).unwrap();
    assert_eq!(limiter.available_permissions(), 2);
}

#[test]
fn a_new_limit_leaves_the_periods_where_they_are() {
    let (limiter, hand) = limiter(1, Duration::ZERO);
    hand.advance(SECOND / 2);
    limiter.change_limit_for_period(3).unwrap();
    hand.advance(SECOND / 2);
    assert_eq!(limiter.available_permissions(), 3);
}

#[test]
fn an_instance_tells_its_name() {
    assert_eq!(limiter(1, SECOND).0.name(), "orders");
}

#[test]
fn a_reload_changes_how_many_events_are_kept() {
    let (limiter, _hand) = limiter(1, Duration::ZERO);
    limiter.events().capture(true);
    limiter
        .reconfigure(limiter.config().to_builder().event_consumer_buffer_size(1).build().unwrap());
    limiter.drain();
    limiter.drain();
    assert_eq!(limiter.events().recent().len(), 1);
}

#[test]
fn a_disabled_limiter_lets_everything_through() {
    let (limiter, _hand) = limiter(1, Duration::ZERO);
    limiter.reconfigure(limiter.config().to_builder().enabled(false).build().unwrap());
    assert!((0..5).all(|_| limiter.try_acquire(1).is_ok()));
    assert_eq!(poll(pin!(limiter.acquire(1))), Poll::Ready(Ok(())));
    assert_eq!(limiter.reserve(1), Some(Duration::ZERO));
    assert_eq!(limiter.available_permissions(), 1);
}
