//! Behaviour that users of other rate limiters reported as missing, named by the project's case ids.
//!
//! E12, a clock that goes back, cannot be had through the public interface: our clock is monotonic.
//! The engines' own tests cover it.

use std::{
    future::Future,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    task::{Context, Poll, Wake, Waker},
    time::Duration,
};

use resilience::{
    Clock, ManualClock, RateLimiter, RateLimiterConfig, RequestNotPermitted, rate_limiter::Refill,
};

const SECOND: Duration = Duration::from_secs(1);
const MILLI: Duration = Duration::from_millis(1);
const REFILLS: [Refill; 2] = [Refill::Interval, Refill::Greedy];

type Acquire = Pin<Box<dyn Future<Output = Result<(), RequestNotPermitted>>>>;

fn limiter(
    refill: Refill,
    limit: u32,
    period: Duration,
    timeout: Duration,
) -> (RateLimiter, ManualClock) {
    let (clock, hand) = Clock::manual(SECOND);
    let config = RateLimiterConfig::builder()
        .refill(refill)
        .limit_for_period(limit)
        .limit_refresh_period(period)
        .timeout_duration(timeout)
        .build()
        .expect("the tests use values in range");
    (RateLimiter::with_clock("case", config, clock), hand)
}

fn acquire(limiter: &RateLimiter, permits: u32) -> Acquire {
    let limiter = limiter.clone();
    Box::pin(async move { limiter.acquire(permits).await })
}

fn poll(acquire: &mut Acquire) -> Poll<Result<(), RequestNotPermitted>> {
    acquire.as_mut().poll(&mut Context::from_waker(Waker::noop()))
}

/// Waiting calls, each polled once.
fn queue<const N: usize>(limiter: &RateLimiter) -> [Acquire; N] {
    [(); N].map(|()| {
        let mut waiting = acquire(limiter, 1);
        assert!(poll(&mut waiting).is_pending());
        waiting
    })
}

fn admitted(limiter: &RateLimiter, tries: u32) -> u32 {
    (0..tries).map(|_| u32::from(limiter.try_acquire(1).is_ok())).sum()
}

#[test]
fn e01_reservations_fill_the_next_period_and_no_more() {
    let (limiter, hand) = limiter(Refill::Interval, 3, SECOND * 10, SECOND * 12);
    assert_eq!(admitted(&limiter, 3), 3);
    let mut waiting = queue::<3>(&limiter);
    let Poll::Ready(Err(seventh)) = poll(&mut acquire(&limiter, 1)) else { panic!() };
    assert_eq!(seventh.retry_after(), Some(SECOND * 20));
    hand.advance(SECOND * 10);
    assert!(waiting.iter_mut().all(|call| poll(call) == Poll::Ready(Ok(()))));
    assert_eq!(limiter.available_permissions(), 0);
    hand.advance(SECOND * 10);
    assert_eq!(limiter.available_permissions(), 3);
}

#[test]
fn e02_an_interval_admits_at_most_twice_the_limit_across_a_boundary() {
    let (limiter, hand) = limiter(Refill::Interval, 100, SECOND, Duration::ZERO);
    hand.advance(MILLI * 900);
    let before = admitted(&limiter, 1_000);
    hand.advance(MILLI * 200);
    assert_eq!(before + admitted(&limiter, 1_000), 200);
}

#[test]
fn e02_greedy_admits_only_what_has_trickled_in_after_a_burst() {
    let (limiter, hand) = limiter(Refill::Greedy, 100, SECOND, Duration::ZERO);
    hand.advance(MILLI * 900);
    let before = admitted(&limiter, 1_000);
    hand.advance(MILLI * 200);
    assert_eq!(before + admitted(&limiter, 1_000), 120);
}

#[test]
fn e03_a_wait_that_cannot_succeed_is_refused_at_once_with_the_time_to_come_back() {
    for refill in REFILLS {
        let (limiter, _hand) = limiter(refill, 1, SECOND * 10, SECOND);
        limiter.try_acquire(1).unwrap();
        let Poll::Ready(Err(error)) = poll(&mut acquire(&limiter, 1)) else { panic!() };
        assert_eq!(error.retry_after(), Some(SECOND * 10), "{refill:?}");
    }
}

#[test]
fn e04_a_cancelled_wait_is_given_back_and_the_others_keep_their_time() {
    for refill in REFILLS {
        let (limiter, hand) = limiter(refill, 1, SECOND, SECOND * 10);
        limiter.try_acquire(1).unwrap();
        let [mut b, c, mut d] = queue(&limiter);
        drop(c);
        hand.advance(SECOND);
        assert!(poll(&mut b).is_ready());
        hand.advance(SECOND);
        assert!(poll(&mut d).is_pending(), "{refill:?}");
        hand.advance(SECOND);
        assert!(poll(&mut d).is_ready());
        assert_eq!(admitted(&limiter, 5), 0, "{refill:?}: one in this period");
        hand.advance(SECOND);
        assert_eq!(admitted(&limiter, 5), 1, "{refill:?}: no permission is lost");
    }
}

#[test]
fn e04_a_place_given_back_is_not_handed_out_on_top_of_the_limit() {
    let (limiter, hand) = limiter(Refill::Interval, 1, SECOND, SECOND * 10);
    limiter.try_acquire(1).unwrap();
    let [_b, c, mut d] = queue(&limiter);
    drop(c);
    let [mut e] = queue(&limiter);
    hand.advance(SECOND * 2);
    assert!(poll(&mut e).is_ready(), "takes the place of c");
    hand.advance(SECOND);
    assert!(poll(&mut d).is_ready());
    assert_eq!(admitted(&limiter, 5), 0);
}

#[test]
fn e06_of_two_that_wait_each_takes_a_permission_of_its_own() {
    for refill in REFILLS {
        let (limiter, hand) = limiter(refill, 1, SECOND, SECOND * 10);
        limiter.try_acquire(1).unwrap();
        let [mut first, mut second] = queue(&limiter);
        hand.advance(SECOND);
        assert!(poll(&mut first).is_ready());
        assert!(poll(&mut second).is_pending(), "{refill:?}");
        hand.advance(SECOND);
        assert!(poll(&mut second).is_ready());
        assert_eq!(limiter.metrics().permitted, 3);
    }
}

#[test]
fn e07_the_largest_limit_in_the_shortest_period_does_not_overflow() {
    for refill in REFILLS {
        let timeout = Duration::from_nanos(i64::MAX as u64);
        let (limiter, hand) = limiter(refill, u32::MAX, Duration::from_nanos(1), timeout);
        limiter.try_acquire(u32::MAX).unwrap();
        assert!(limiter.reserve(u32::MAX).is_some(), "{refill:?}");
        hand.advance(SECOND);
        assert_eq!(limiter.available_permissions(), i64::from(u32::MAX), "{refill:?}");
        hand.advance(Duration::MAX);
        limiter.try_acquire(u32::MAX).unwrap();
    }
}

#[test]
fn e07_a_limit_of_zero_is_refused_at_start() {
    let error = RateLimiterConfig::builder().limit_for_period(0).build().unwrap_err();
    assert_eq!(
        error.to_string(),
        "limit_for_period = 0: expected a whole number from 1 to 4294967295"
    );
}

#[test]
fn e08_a_pace_below_a_millisecond_is_kept() {
    for refill in REFILLS {
        let (limiter, hand) = limiter(refill, 1, Duration::from_micros(500), Duration::ZERO);
        let mut total = 0;
        for _ in 0..100_000 {
            total += admitted(&limiter, 1);
            hand.advance(Duration::from_micros(100));
        }
        assert_eq!(total, 20_000, "{refill:?}");
    }
}

#[test]
fn e08_a_million_a_second_is_still_a_limit() {
    for refill in REFILLS {
        let (limiter, hand) = limiter(refill, 1, Duration::from_micros(1), Duration::ZERO);
        let mut total = 0;
        for _ in 0..40_000 {
            total += admitted(&limiter, 1);
            hand.advance(Duration::from_nanos(250));
        }
        assert_eq!(total, 10_000, "{refill:?}");
    }
}

#[test]
fn e09_five_a_second_never_become_ten_within_a_second_when_refilled_greedily() {
    let (limiter, hand) = limiter(Refill::Greedy, 5, SECOND, Duration::ZERO);
    hand.advance(SECOND / 2);
    let mut in_one_second = 0;
    for _ in 0..1_000 {
        in_one_second += admitted(&limiter, 5);
        hand.advance(MILLI);
    }
    // The burst that was saved up, and what trickles in at 200, 400, 600 and 800 ms.
    assert_eq!(in_one_second, 9);
}

#[test]
fn e11_no_less_than_an_interval_after_a_burst_brings_another_permission() {
    for nanos in [1, 100_000_000, 199_999_999] {
        let (limiter, hand) = limiter(Refill::Greedy, 5, SECOND, Duration::ZERO);
        hand.advance(SECOND * 100);
        let burst = admitted(&limiter, 10);
        hand.advance(Duration::from_nanos(nanos));
        assert_eq!(burst + admitted(&limiter, 10), 5, "after {nanos} ns");
    }
}

#[test]
fn e15_the_rate_is_the_limit_over_a_saturated_minute() {
    for refill in REFILLS {
        let (limiter, hand) = limiter(refill, 115, SECOND, Duration::ZERO);
        let saturated = |seconds: u32| {
            let mut total = 0;
            for _ in 0..seconds * 1_000 {
                total += admitted(&limiter, 2);
                hand.advance(MILLI);
            }
            total
        };
        saturated(1);
        let total = saturated(60);
        assert!((6_831..=6_969).contains(&total), "{refill:?}: {total}");
    }
}

#[test]
fn e16_waiting_calls_are_woken_once_each() {
    #[derive(Default)]
    struct Wakes(AtomicU32);

    impl Wake for Wakes {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    for refill in REFILLS {
        let (limiter, hand) = limiter(refill, 1, SECOND, SECOND * 100);
        limiter.try_acquire(1).unwrap();
        let count = Arc::new(Wakes::default());
        let waker = Waker::from(Arc::clone(&count));
        let mut waiting: Vec<_> = (0..80).map(|_| acquire(&limiter, 1)).collect();
        for call in &mut waiting {
            assert!(call.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        }
        for (second, call) in (1..).zip(&mut waiting) {
            hand.advance(SECOND);
            assert_eq!(count.0.load(Ordering::Relaxed), second, "{refill:?}");
            assert!(poll(call).is_ready());
        }
    }
}

#[test]
fn e17_after_a_lower_limit_nobody_waits_longer_than_a_burst_at_the_new_rate() {
    for refill in REFILLS {
        let (limiter, hand) = limiter(refill, 100, SECOND, SECOND);
        assert_eq!(admitted(&limiter, 200), 100);
        limiter.change_limit_for_period(2).unwrap();
        let mut next = acquire(&limiter, 1);
        assert!(poll(&mut next).is_pending());
        hand.advance(SECOND);
        assert!(poll(&mut next).is_ready(), "{refill:?}");
    }
}

#[test]
fn e17_a_higher_limit_grants_no_free_burst() {
    for refill in REFILLS {
        let (limiter, _hand) = limiter(refill, 2, SECOND, Duration::ZERO);
        assert_eq!(admitted(&limiter, 5), 2);
        limiter.change_limit_for_period(100).unwrap();
        assert_eq!(admitted(&limiter, 200), 0, "{refill:?}");
    }
}

#[test]
fn e17_a_higher_limit_lets_in_those_that_wait_with_the_next_refill() {
    for refill in REFILLS {
        let (limiter, hand) = limiter(refill, 1, SECOND * 3600, SECOND * 100_000);
        limiter.try_acquire(1).unwrap();
        let mut waiting: Vec<_> = (0..5).map(|_| acquire(&limiter, 1)).collect();
        assert!(waiting.iter_mut().all(|call| poll(call).is_pending()));
        limiter.change_limit_for_period(1_000).unwrap();
        assert!(waiting.iter_mut().all(|call| poll(call).is_pending()), "{refill:?}");
        hand.advance(SECOND * 3600);
        assert!(waiting.iter_mut().all(|call| poll(call).is_ready()), "{refill:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn on_tokios_paused_clock_calls_pass_at_the_pace_of_the_limit() {
    for refill in REFILLS {
        let config = limiter(refill, 1, SECOND, SECOND * 10).0.config();
        let limiter = RateLimiter::new("paused", (*config).clone());
        let start = tokio::time::Instant::now();
        for _ in 0..4 {
            limiter.acquire(1).await.unwrap();
        }
        assert_eq!(start.elapsed().as_secs(), 3, "{refill:?}");
    }
}
