//! Listeners of a store's events, which run the code of others.

use std::{
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

use resilience::{
    RateLimiter,
    store::{Store, StoreConfig},
};
use resilience_redis_tests::{
    limits::{A_YEAR, ALGORITHMS, limit, limiter, open_with},
    proxy::{Fault, Proxy},
    server::{Server, wait_until},
};

/// A server that is about to refuse, and a limiter that has heard of it while it was well.
fn before_a_fault(server: &Server) -> (Proxy, RateLimiter, Store) {
    let proxy = Proxy::start(server.port());
    let store = open_with(StoreConfig::builder([proxy.url()], "test"));
    let limiter = limiter("orders", limit(ALGORITHMS[0], 1_000, A_YEAR), &store);
    wait_until("the store decides", || limiter.try_acquire(1).is_ok());
    proxy.set(Fault::Answer(b"-READONLY You can't write against a read only replica.\r\n"));
    (proxy, limiter, store)
}

#[test]
fn a_slow_listener_holds_up_no_decision() {
    let server = Server::start();
    let (_proxy, limiter, store) = before_a_fault(&server);
    let _slow = store.events().subscribe(|_| thread::sleep(Duration::from_secs(2)));
    for _ in 0..8 {
        let began = Instant::now();
        assert!(limiter.try_acquire(1).is_err());
        assert!(began.elapsed() < Duration::from_millis(500), "{:?}", began.elapsed());
    }
}

#[test]
fn a_listener_may_ask_the_store() {
    let server = Server::start();
    let (_proxy, limiter, store) = before_a_fault(&server);
    let (sender, heard) = mpsc::channel();
    let asks = limiter.clone();
    let _asks = store.events().subscribe(move |_| {
        let _ = sender.send(asks.try_acquire(1).is_ok());
    });
    // On a thread of its own: it may hang.
    thread::spawn(move || limiter.try_acquire(1));
    assert_eq!(heard.recv_timeout(Duration::from_secs(10)), Ok(false));
}
