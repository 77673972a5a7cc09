//! Calls that somebody began and polls no more, without dropping them.

use std::{
    future::Future,
    pin::Pin,
    sync::mpsc,
    task::{Context, Waker},
    thread,
    time::Duration,
};

use resilience::{RateLimiter, rate_limiter::Algorithm, store::StoreConfig};
use resilience_redis_tests::{
    limits::{A_YEAR, ALGORITHMS, admitted, limit, limiter, open, open_with},
    server::Server,
};

/// Waits behind somebody or not, is let in in the end, and stays in nobody's way.
#[tokio::test]
async fn one_that_is_the_first_to_wait_is_passed_by_in_the_end() {
    const PERIOD: Duration = Duration::from_millis(500);
    let server = Server::start();
    let config = StoreConfig::builder([server.url()], "test");
    let store = open_with(config.decision_timeout(Duration::from_secs(1)));
    let config = limit(Algorithm::Gcra, 10, PERIOD).timeout_duration(Duration::from_secs(20));
    let limiter = limiter("orders", config, &store);
    limiter.acquire(10).await.unwrap();
    let mut first = Box::pin(limiter.acquire(10));
    // The answer comes from another thread.
    for _ in 0..20 {
        poll(first.as_mut());
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(limiter.waiting(), 1);
    let behind = tokio::time::timeout(Duration::from_secs(10), limiter.acquire(1));
    assert_eq!(behind.await.expect("there is room for it soon"), Ok(()));
    let late = limiter.clone();
    let late = tokio::task::spawn_blocking(move || late.try_acquire(1)).await;
    assert_eq!(late.unwrap(), Ok(()));
    assert_eq!(first.await, Ok(()));
    assert_eq!(limiter.waiting(), 0);
}

fn poll(call: Pin<&mut impl Future>) {
    assert!(call.poll(&mut Context::from_waker(Waker::noop())).is_pending());
}

/// Whether a call on a thread of its own is let in, if it comes to an end.
fn asks(limiter: &RateLimiter) -> Option<bool> {
    let (sender, receiver) = mpsc::channel();
    let limiter = limiter.clone();
    thread::spawn(move || sender.send(limiter.try_acquire(1).is_ok()));
    receiver.recv_timeout(Duration::from_secs(10)).ok()
}

#[test]
fn one_that_fetches_a_block_holds_up_nobody() {
    let server = Server::start();
    let store = open(&server.url());
    for algorithm in ALGORITHMS {
        let config = limit(algorithm, 1_000, A_YEAR).lease(20);
        let limiter = limiter(&format!("{algorithm:?}"), config, &store);
        let mut left = Box::pin(limiter.acquire(1));
        poll(left.as_mut());
        let asked = || server.calls_of("evalsha");
        assert_eq!(asks(&limiter), Some(true), "{algorithm:?}");
        let before = asked();
        assert_eq!(admitted(&limiter, 18), 18, "what it has fetched is there for others");
        assert_eq!(asked(), before);
    }
}
