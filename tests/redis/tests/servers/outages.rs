//! The server goes away, stands still and comes back.

use std::{
    thread,
    time::{Duration, Instant},
};

use futures_util::future::join_all;
use resilience::{
    RateLimiter,
    rate_limiter::{Algorithm, OnStoreFailure},
    store::{Store, StoreConfig, StoreFailure},
};
use resilience_redis_tests::{
    limits::{A_YEAR, ALGORITHMS, limit, limiter, open_with},
    server::{Server, wait_until},
};

const LIMIT_OF_A_DECISION: Duration = Duration::from_millis(50);
/// What a loaded machine may take for itself.
const SLACK: Duration = Duration::from_millis(150);

/// A store with the limit that decisions have by default, as one of five processes.
fn store(server: &Server) -> Store {
    open_with(StoreConfig::builder([server.url()], "test").nodes(5))
}

fn events(store: &Store) -> Vec<&'static str> {
    store.events().recent().iter().map(|event| event.type_name).collect()
}

/// Limits of 50 in a year, one for each thing that may be done without the store.
fn limiters(algorithm: Algorithm, store: &Store) -> [(OnStoreFailure, RateLimiter); 3] {
    [OnStoreFailure::Open, OnStoreFailure::Closed, OnStoreFailure::Local].map(|policy| {
        let config = limit(algorithm, 50, A_YEAR).on_store_failure(policy);
        (policy, limiter(&format!("{policy:?}-{algorithm:?}"), config, store))
    })
}

/// Has a limiter asked until it is well again: until the store decides.
fn time_until_shared(limiter: &RateLimiter, store: &Store) -> Duration {
    let (began, decided) = (Instant::now(), store.metrics().decided);
    wait_until("the store decides", || {
        let _ = limiter.try_acquire(1);
        store.metrics().decided > decided
    });
    began.elapsed()
}

/// How long some calls took each, in order, and how many were let in.
fn timed(limiter: &RateLimiter, calls: u32) -> (Vec<Duration>, u32) {
    let mut admitted = 0;
    let times = (0..calls).map(|_| {
        let began = Instant::now();
        admitted += u32::from(limiter.try_acquire(1).is_ok());
        began.elapsed()
    });
    (times.collect(), admitted)
}

#[test]
fn k13_after_a_restart_limits_are_shared_again_within_two_seconds() {
    let mut server = Server::start();
    let store = store(&server);
    let limiter = limiter("orders", limit(Algorithm::Gcra, 1_000, A_YEAR), &store);
    time_until_shared(&limiter, &store);
    server.kill();
    // Enough for the guard to open.
    let (times, admitted) = timed(&limiter, 20);
    assert_eq!(admitted, 0);
    assert!(times.iter().all(|time| *time <= LIMIT_OF_A_DECISION + SLACK), "{times:?}");
    assert!(store.metrics().failed(StoreFailure::Connection) >= 5, "{:?}", store.metrics());
    server.restart();
    let took = time_until_shared(&limiter, &store);
    assert!(took <= Duration::from_secs(2), "{took:?}");
    assert!(limiter.try_acquire(1).is_ok());
}

#[test]
fn k13_after_a_long_outage_limits_are_shared_again_within_two_seconds() {
    let mut server = Server::start();
    let store = store(&server);
    let limiter = limiter("orders", limit(Algorithm::Gcra, 1_000, A_YEAR), &store);
    time_until_shared(&limiter, &store);
    server.kill();
    let began = Instant::now();
    // Long enough for pauses of 1, 2 and 4 seconds.
    while began.elapsed() < Duration::from_secs(5) {
        assert!(limiter.try_acquire(1).is_err());
        thread::sleep(Duration::from_millis(10));
    }
    server.restart();
    let took = time_until_shared(&limiter, &store);
    assert!(took <= Duration::from_secs(2), "{took:?}");
}

/// As all whose rights were given by hand, without this one.
#[test]
fn a_user_who_may_not_ping_shares_limits_again_as_soon_as_others() {
    let server = Server::start();
    let mut acl = redis::cmd("ACL");
    acl.arg(&["SETUSER", "shop", "on", ">tree", "~test:*", "+@all", "-ping"]);
    let () = acl.query(&mut server.connect()).unwrap();
    let url = server.url().replace("redis://", "redis://shop:tree@");
    let store = open_with(StoreConfig::builder([url], "test"));
    let limiter = limiter("orders", limit(Algorithm::Gcra, 1_000, A_YEAR), &store);
    time_until_shared(&limiter, &store);
    server.stop();
    let began = Instant::now();
    while began.elapsed() < Duration::from_secs(5) {
        assert!(limiter.try_acquire(1).is_err());
        thread::sleep(Duration::from_millis(10));
    }
    server.go_on();
    let took = time_until_shared(&limiter, &store);
    assert!(took <= Duration::from_secs(2), "{took:?}");
}

/// Stands still for eight seconds, which thirty are no different from: the pauses of the guard have
/// grown to four seconds by then.
#[test]
fn k06_a_server_that_stands_still_holds_no_call_beyond_its_limit() {
    let server = Server::start();
    for algorithm in ALGORITHMS {
        let store = store(&server);
        for (policy, limiter) in &limiters(algorithm, &store) {
            assert!(limiter.try_acquire(10).is_ok(), "{policy:?}");
        }
    }
    thread::scope(|scope| {
        let stores = ALGORITHMS.map(|algorithm| (algorithm, store(&server)));
        for (algorithm, store) in &stores {
            time_until_shared(&limiter("warm", limit(*algorithm, 1, A_YEAR), store), store);
        }
        server.stop();
        for (algorithm, store) in stores {
            scope.spawn(move || stands_still(algorithm, &store));
        }
        thread::sleep(Duration::from_secs(8));
        server.go_on();
    });
}

fn stands_still(algorithm: Algorithm, store: &Store) {
    let limiters = limiters(algorithm, store);
    let began = Instant::now();
    let mut slow = Vec::new();
    let mut quick = Vec::new();
    let mut admitted = [0; 3];
    let mut calls = 0_u32;
    // Until shortly before the server goes on.
    while began.elapsed() < Duration::from_millis(7_500) {
        for ((_, limiter), admitted) in limiters.iter().zip(&mut admitted) {
            let asked = store.metrics().failed(StoreFailure::Timeout);
            let (times, in_) = timed(limiter, 1);
            let waited = store.metrics().failed(StoreFailure::Timeout) > asked;
            if waited {
                slow.extend(times);
            } else {
                quick.extend(times);
            }
            *admitted += in_;
        }
        calls += 1;
        thread::sleep(Duration::from_millis(2));
    }
    quick.sort();
    slow.sort();
    // One for each of the first five failures, and one for each pause that ended since.
    assert!((5..=9).contains(&slow.len()), "{algorithm:?}: {slow:?}");
    assert!(slow[slow.len() / 2] <= LIMIT_OF_A_DECISION + Duration::from_millis(10), "{slow:?}");
    assert!(slow.iter().all(|time| *time <= LIMIT_OF_A_DECISION + SLACK), "{slow:?}");
    let (half, most) = (quick[quick.len() / 2], quick[quick.len() * 99 / 100]);
    assert!(half < Duration::from_millis(1), "{algorithm:?}: half of them take {half:?}");
    assert!(most < Duration::from_millis(20), "{algorithm:?}: 99 % take {most:?}");
    // Open lets all in, closed none, and a fifth of 50 is this process' own share.
    assert_eq!(admitted, [calls, 0, 10], "{algorithm:?}");
    let metrics = store.metrics();
    assert!(metrics.degraded);
    assert_eq!(metrics.failed(StoreFailure::Timeout), slow.len() as u64);
    assert_eq!(metrics.all_failed(), u64::from(calls) * 3, "{metrics:?}");
    assert_eq!(metrics.failed(StoreFailure::Guard), quick.len() as u64, "{metrics:?}");
    assert_eq!(events(store), ["DEGRADED"]);

    thread::sleep(Duration::from_secs(1));
    let took = time_until_shared(&limiters[1].1, store);
    assert!(took <= Duration::from_secs(2), "{algorithm:?}: {took:?}");
    wait_until("nothing has failed for a second", || {
        let _ = limiters[1].1.try_acquire(1);
        !store.metrics().degraded
    });
    assert_eq!(events(store), ["DEGRADED", "RECOVERED"], "{algorithm:?}");
}

#[tokio::test]
async fn k07_of_100_calls_at_once_without_a_store_the_policy_lets_in_what_it_says() {
    let server = Server::start();
    for algorithm in ALGORITHMS {
        for lease in [1, 3] {
            let store = open_with(StoreConfig::builder([server.url()], "test"));
            server.stop();
            for (policy, expected) in [
                (OnStoreFailure::Open, 100),
                (OnStoreFailure::Closed, 0),
                (OnStoreFailure::Local, 3),
            ] {
                let config = limit(algorithm, 3, A_YEAR).lease(lease).on_store_failure(policy);
                let limiter = limiter(&format!("{policy:?}"), config, &store);
                let began = Instant::now();
                let answers = join_all((0..100).map(|_| limiter.acquire(1))).await;
                let took = began.elapsed();
                let admitted = answers.iter().filter(|answer| answer.is_ok()).count();
                assert_eq!(admitted, expected, "{algorithm:?} {policy:?}");
                let longest = LIMIT_OF_A_DECISION + SLACK;
                assert!(took <= longest, "{algorithm:?} {policy:?}, lease {lease}: {took:?}");
            }
            assert_eq!(events(&store), ["DEGRADED"]);
            server.go_on();
        }
    }
}

#[test]
fn a_refusal_without_a_store_tells_when_it_is_asked_again() {
    let mut server = Server::start();
    let store = store(&server);
    let limiter = limiter("orders", limit(Algorithm::Gcra, 50, A_YEAR), &store);
    server.kill();
    let _ = timed(&limiter, 20);
    let refused = limiter.try_acquire(1).unwrap_err();
    let wait = refused.retry_after().expect("the guard knows");
    assert!(wait <= Duration::from_millis(1_200), "{wait:?}");
}

#[test]
fn a_store_that_was_never_there_is_used_once_it_comes() {
    let mut server = Server::start();
    server.kill();
    let store = store(&server);
    let config = limit(Algorithm::FixedWindow, 50, A_YEAR).on_store_failure(OnStoreFailure::Local);
    let limiter = limiter("orders", config, &store);
    let (_, admitted) = timed(&limiter, 100);
    assert_eq!(admitted, 10, "its share of 50 among five");
    server.restart();
    time_until_shared(&limiter, &store);
    let (_, admitted) = timed(&limiter, 100);
    assert!((48..=50).contains(&admitted), "what the server has: {admitted}");
}

/// What the store has granted counts in the process too: its share is used up when the store goes.
#[test]
fn what_was_granted_before_the_outage_counts_for_the_share() {
    let server = Server::start();
    for algorithm in ALGORITHMS {
        let store = store(&server);
        let config = limit(algorithm, 50, A_YEAR).on_store_failure(OnStoreFailure::Local);
        let limiter = limiter(&format!("{algorithm:?}"), config, &store);
        wait_until("the store decides", || {
            limiter.try_acquire(1).unwrap();
            store.metrics().decided >= 7
        });
        let granted = limiter.metrics().permitted;
        server.stop();
        let (_, admitted) = timed(&limiter, 50);
        assert_eq!(u64::from(admitted), 10_u64.saturating_sub(granted), "{algorithm:?}");
        server.go_on();
    }
}
