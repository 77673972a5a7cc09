//! Calls that somebody began and polls no more, without dropping them.

use std::{
    future::Future,
    pin::Pin,
    sync::mpsc,
    task::{Context, Waker},
    thread,
    time::Duration,
};

use resilience::RateLimiter;
use resilience_redis_tests::{
    limits::{A_YEAR, ALGORITHMS, admitted, limit, limiter, open},
    server::Server,
};

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
