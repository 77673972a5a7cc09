use std::time::Duration;

use resilience::{Clock, ManualClock, RateLimiter, RateLimiterConfig, rate_limiter::Refill};

use crate::{block_on, explore, poll, race};

const PERIOD: Duration = Duration::from_secs(1);

/// One call a period, and a wait of one period at most.
fn limiter(refill: Refill) -> (RateLimiter, ManualClock) {
    let (clock, hand) = Clock::manual(Duration::ZERO);
    let config = RateLimiterConfig::builder()
        .limit_for_period(1)
        .limit_refresh_period(PERIOD)
        .timeout_duration(PERIOD)
        .refill(refill)
        .build()
        .unwrap();
    (RateLimiter::with_clock("l", config, clock), hand)
}

/// Runs a model with both kinds of refill.
fn explore_both(model: fn(Refill)) {
    for refill in [Refill::Interval, Refill::Greedy] {
        explore(move || model(refill));
    }
}

#[test]
fn of_two_threads_one_gets_the_last_permission() {
    explore_both(|refill| {
        let (limiter, _hand) = limiter(refill);
        let other = limiter.clone();
        let (there, here) = race(move || other.try_acquire(1), || limiter.try_acquire(1));
        assert_ne!(there.is_ok(), here.is_ok());
        let metrics = limiter.metrics();
        assert_eq!((metrics.permitted, metrics.refused), (1, 1));
    });
}

#[test]
fn of_two_threads_one_reserves_the_next_period() {
    explore_both(|refill| {
        let (limiter, _hand) = limiter(refill);
        limiter.try_acquire(1).unwrap();
        let other = limiter.clone();
        let (there, here) = race(move || other.reserve(1), || limiter.reserve(1));
        let mut answers = [there, here];
        answers.sort();
        assert_eq!(answers, [None, Some(PERIOD)]);
    });
}

#[test]
fn a_reservation_that_is_given_up_while_another_call_asks_is_neither_lost_nor_doubled() {
    explore_both(|refill| {
        let (limiter, _hand) = limiter(refill);
        limiter.try_acquire(1).unwrap();
        let waiting = limiter.clone();
        let mut turn = Box::pin(async move { waiting.acquire(1).await });
        assert!(poll(&mut turn).is_pending());
        let other = limiter.clone();
        let (asked, ()) = race(move || other.reserve(1), || drop(turn));
        let mut answers = [asked, limiter.reserve(1)];
        answers.sort();
        assert_eq!(answers, [None, Some(PERIOD)]);
        assert_eq!(limiter.reserve(1), None);
        assert_eq!(limiter.waiting(), 0);
        assert_eq!(limiter.metrics().cancelled, 1);
    });
}

#[test]
fn a_turn_that_comes_while_its_call_begins_to_wait_is_taken() {
    explore_both(|refill| {
        let (limiter, hand) = limiter(refill);
        limiter.try_acquire(1).unwrap();
        let ((), turn) = race(move || hand.advance(PERIOD), || block_on(limiter.acquire(1)));
        turn.unwrap();
        assert_eq!(limiter.waiting(), 0);
        assert_eq!(limiter.available_permissions(), 0);
        assert_eq!(limiter.metrics().permitted, 2);
    });
}

#[test]
fn of_changes_by_two_threads_none_undoes_the_other() {
    explore_both(|refill| {
        let (limiter, _hand) = limiter(refill);
        let other = limiter.clone();
        race(
            move || other.change_limit_for_period(2).unwrap(),
            || limiter.change_timeout_duration(Duration::ZERO).unwrap(),
        );
        let config = limiter.config();
        assert_eq!((config.limit_for_period(), config.timeout_duration()), (2, Duration::ZERO));
    });
}
