//! Times that limits tell, and the pace at which they let calls in.

use std::{
    thread,
    time::{Duration, Instant},
};

use proptest::prelude::*;
use redis::Commands;
use resilience::{RateLimiter, rate_limiter::Algorithm};
use resilience_redis_tests::{
    limits::{A_YEAR, ALGORITHMS, admitted, limit, limiter, open},
    server::{Server, time},
};

/// Takes what is there, and waits as long as it is told to.
fn waiting_as_told_is_enough(limiter: &RateLimiter, permits: u32, period: Duration) {
    let refused = loop {
        if let Err(refused) = limiter.try_acquire(permits) {
            break refused;
        }
    };
    let wait = refused.retry_after().expect("a wait is long enough");
    assert!(wait <= period + Duration::from_micros(1), "{wait:?} of {period:?}");
    thread::sleep(wait);
    assert!(limiter.try_acquire(permits).is_ok(), "after {wait:?} of {period:?}");
}

#[test]
fn who_waits_as_long_as_was_told_is_let_in() {
    let server = Server::start();
    let store = open(&server.url());
    let config = ProptestConfig {
        cases: 60,
        max_shrink_iters: 20,
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    proptest!(config, |(most in 1_u32..100_000, micros in 20_000_u64..150_000, share in 0.3..=1.0)| {
        for algorithm in ALGORITHMS {
            let period = Duration::from_micros(micros);
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a part of it
            let permits = ((f64::from(most) * share) as u32).max(1);
            let name = format!("{most}-{micros}-{permits}-{algorithm:?}");
            let limiter = limiter(&name, limit(algorithm, most, period), &store);
            waiting_as_told_is_enough(&limiter, permits, period);
        }
    });
}

/// The stored time moves by exactly what was taken: at 300,000 a second, 3,000 calls move it by 10 ms.
/// Written with the fourteen digits that Lua gives by itself it would move in steps of 100 µs, or not at all.
#[test]
fn k15_single_calls_under_300_000_a_second_move_the_stored_time_by_what_they_take() {
    let server = Server::start();
    let (store, mut connection) = (open(&server.url()), server.connect());
    let config = limit(Algorithm::Gcra, 30_000_000, Duration::from_secs(100));
    let limiter = limiter("fast", config, &store);
    // Far ahead of the clock, which plays no part until it has caught up.
    limiter.try_acquire(15_000_000).unwrap();
    let key: Vec<String> = connection.keys("*").unwrap();
    let before: f64 = connection.get(&key[0]).unwrap();
    assert_eq!(admitted(&limiter, 3_000), 3_000);
    let after: f64 = connection.get(&key[0]).unwrap();
    let moved = after - before;
    assert!((9_700.0..=10_300.0).contains(&moved), "{moved} µs");
    assert!((moved - 10_000.0).abs() < 20.0, "and to the point: {moved} µs");
}

#[test]
fn k15_300_000_permissions_a_second_are_let_through_within_3_percent() {
    let server = Server::start();
    let (store, mut connection) = (open(&server.url()), server.connect());
    let limiter = limiter("fast", limit(Algorithm::Gcra, 300_000, Duration::from_secs(1)), &store);
    limiter.try_acquire(300_000).unwrap();
    let began = time(&mut connection);
    let mut taken = 0.0;
    // Late on a loaded machine, they come back as fast as they may: what is late is not lost.
    while taken < 450_000.0 {
        match limiter.try_acquire(3_000) {
            Ok(()) => taken += 3_000.0,
            Err(refused) => thread::sleep(refused.retry_after().unwrap()),
        }
    }
    let rate = taken / time(&mut connection).saturating_sub(began).as_secs_f64();
    assert!((291_000.0..=309_000.0).contains(&rate), "{rate} a second");
}

#[test]
fn e15_a_limit_that_is_always_used_up_lets_in_what_it_says_within_1_percent() {
    const PERIOD: Duration = Duration::from_millis(100);
    const PERIODS: u32 = 40;
    let server = Server::start();
    let store = open(&server.url());
    thread::scope(|scope| {
        for algorithm in ALGORITHMS {
            let (store, server) = (&store, &server);
            scope.spawn(move || {
                let config = limit(algorithm, 20, PERIOD).timeout_duration(Duration::from_mins(1));
                let limiter = limiter(&format!("{algorithm:?}"), config, store);
                let mut connection = server.connect();
                // To the end of the window that has begun, and with nothing saved up.
                while limiter.acquire_blocking(20).is_err() {}
                while limiter.metrics().available_permissions > 0 {
                    let _ = limiter.try_acquire(1);
                }
                let began = time(&mut connection);
                for _ in 0..PERIODS * 20 {
                    limiter.acquire_blocking(1).unwrap();
                }
                let took = time(&mut connection).saturating_sub(began);
                // In windows the last twenty come together, up to a period before their time is over.
                let shortest = match algorithm {
                    Algorithm::Gcra => PERIOD * PERIODS,
                    _ => PERIOD * (PERIODS - 1),
                };
                let longest = PERIOD * PERIODS + Duration::from_millis(150);
                let expected = shortest.mul_f64(0.99)..=longest.mul_f64(1.01);
                assert!(expected.contains(&took), "{algorithm:?}: {took:?}");
            });
        }
    });
}

#[test]
fn a_call_that_may_wait_is_let_in_when_a_permission_is_back() {
    const PERIOD: Duration = Duration::from_millis(300);
    let server = Server::start();
    let store = open(&server.url());
    for algorithm in ALGORITHMS {
        let config = limit(algorithm, 1, PERIOD).timeout_duration(Duration::from_secs(20));
        let limiter = limiter(&format!("{algorithm:?}"), config, &store);
        limiter.acquire_blocking(1).unwrap();
        let began = Instant::now();
        limiter.acquire_blocking(1).unwrap();
        limiter.acquire_blocking(1).unwrap();
        // The first window may have been at its end.
        assert!(began.elapsed() > PERIOD.mul_f64(0.95), "{algorithm:?}: {:?}", began.elapsed());
        assert_eq!(limiter.metrics().permitted, 3);
    }
}

#[test]
fn a_wait_that_would_be_too_long_is_refused_at_once() {
    let server = Server::start();
    let store = open(&server.url());
    for algorithm in ALGORITHMS {
        let config = limit(algorithm, 1, A_YEAR).timeout_duration(Duration::from_secs(5));
        let limiter = limiter(&format!("{algorithm:?}"), config, &store);
        limiter.acquire_blocking(1).unwrap();
        let began = Instant::now();
        let refused = limiter.acquire_blocking(1).unwrap_err();
        assert!(began.elapsed() < Duration::from_secs(3), "{:?}", began.elapsed());
        assert!(refused.retry_after().is_some_and(|wait| wait > Duration::from_secs(5)));
    }
}
