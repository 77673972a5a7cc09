//! A replica takes over.

use std::time::{Duration, Instant};

use resilience::store::{StoreConfig, StoreFailure};
use resilience_redis_tests::{
    limits::{A_YEAR, ALGORITHMS, admitted, limit, limiter, open_with},
    proxy::Proxy,
    server::{Server, wait_until},
};

use crate::at_once;

/// The old master is demoted, as a failover does it, while the connection to it stays: an address that
/// leads to the new one is of use only to who connects again.
#[test]
fn k13_a_master_that_was_demoted_is_left_for_the_new_one_at_the_same_address() {
    at_once(ALGORITHMS, |algorithm| {
        let (old, new) = (Server::start(), Server::start());
        new.replicate(&old);
        let proxy = Proxy::start(old.port());
        let store = open_with(
            StoreConfig::builder([proxy.url()], "test")
                .decision_timeout(Duration::from_millis(200)),
        );
        let limiter = limiter("orders", limit(algorithm, 50, A_YEAR), &store);
        wait_until("the store decides", || limiter.try_acquire(1).is_ok());
        let mut all = 1 + admitted(&limiter, 29);

        new.promote();
        old.replicate(&new);
        // For a moment the address leads to the old one still.
        all += admitted(&limiter, 2);
        assert!(store.metrics().failed(StoreFailure::ReadOnly) > 0, "{:?}", store.metrics());
        proxy.lead_to(new.port());
        let began = Instant::now();
        let decided = store.metrics().decided;
        wait_until("the new one decides", || {
            all += admitted(&limiter, 1);
            store.metrics().decided > decided
        });
        let took = began.elapsed();
        assert!(took <= Duration::from_secs(2), "{algorithm:?}: {took:?}");
        let waited = store.metrics().failed(StoreFailure::Guard);
        assert_eq!(waited, 0, "{algorithm:?}: the connection was left at once");
        for _ in 0..3 {
            all += admitted(&limiter, 60);
        }
        // The new one may have missed what came last, and does not know the script.
        assert!((50..=100).contains(&all), "{algorithm:?}: {all}");
        assert!(limiter.try_acquire(1).is_err());
    });
}

/// The replica may lack all that the master had: one burst more, and no second one.
#[test]
fn k08_a_failover_to_an_empty_server_costs_one_burst() {
    at_once(ALGORITHMS, |algorithm| {
        let (mut old, new) = (Server::start(), Server::start());
        let proxy = Proxy::start(old.port());
        // Long, so that none is carried out that was given up: the count has to be exact.
        let config = StoreConfig::builder([proxy.url()], "test");
        let store = open_with(config.decision_timeout(Duration::from_secs(2)));
        let limiter = limiter("orders", limit(algorithm, 50, A_YEAR), &store);
        let mut all = 0;
        wait_until("the limit is used up", || {
            all += admitted(&limiter, 10);
            all == 50
        });
        old.kill();
        proxy.cut();
        assert_eq!(admitted(&limiter, 10), 0, "{algorithm:?}");
        proxy.lead_to(new.port());
        let decided = store.metrics().decided;
        wait_until("the new one decides", || {
            all += admitted(&limiter, 1);
            store.metrics().decided > decided
        });
        wait_until("the limit is used up", || {
            all += admitted(&limiter, 10);
            all >= 100
        });
        all += admitted(&limiter, 100);
        assert_eq!(all, 100, "{algorithm:?}");
    });
}
