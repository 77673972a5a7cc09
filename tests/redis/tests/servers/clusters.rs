//! Limits in a cluster.

use std::{
    thread,
    time::{Duration, Instant},
};

use resilience::{
    rate_limiter::OnStoreFailure,
    store::{Store, StoreConfig, StoreFailure},
};
use resilience_redis_tests::{
    cluster::Cluster,
    limits::{A_YEAR, ALGORITHMS, admitted, limit, limiter, open_with},
    server::wait_until,
};

fn store(cluster: &Cluster, decision: Duration) -> Store {
    let config = StoreConfig::builder([cluster.url()], "test").cluster(true);
    open_with(config.decision_timeout(decision).nodes(5))
}

fn patient(cluster: &Cluster) -> Store {
    store(cluster, Duration::from_secs(10))
}

#[test]
fn k01_limits_all_over_a_cluster_admit_what_they_say_and_no_command_crosses_slots() {
    let cluster = Cluster::start(false);
    let store = patient(&cluster);
    for algorithm in ALGORITHMS {
        let mut on = [0; 3];
        for number in 0..12 {
            let name = format!("limit {number} {algorithm:?} {{}}");
            let of_all = || limiter(&name, limit(algorithm, 5, A_YEAR), &store);
            assert_eq!(admitted(&of_all(), 4) + admitted(&of_all(), 10), 5, "{name}");
            assert_eq!(admitted(&of_all().keyed("tenant"), 10), 5, "{name}");
        }
        for (node, on) in cluster.nodes().iter().zip(&mut on) {
            *on = node.calls_of("evalsha");
        }
        assert!(on.iter().all(|calls| *calls > 0), "all nodes have some: {on:?}");
    }
    assert_eq!(store.metrics().all_failed(), 0, "{:?}", store.metrics());
}

#[test]
fn a_slot_that_moves_while_calls_run_takes_the_count_with_it() {
    let cluster = Cluster::start(false);
    for algorithm in ALGORITHMS {
        let name = format!("{}-{algorithm:?}", cluster.name_on(0));
        let from = cluster.master_of(&name);
        let store = patient(&cluster);
        let limiter = limiter(&name, limit(algorithm, 300, A_YEAR), &store);
        let mut all = admitted(&limiter, 50);
        assert_eq!(all, 50);
        all += thread::scope(|scope| {
            let calls = scope.spawn(|| {
                let mut let_in = 0;
                for _ in 0..100 {
                    let_in += admitted(&limiter, 1);
                    thread::sleep(Duration::from_millis(1));
                }
                let_in
            });
            thread::sleep(Duration::from_millis(20));
            cluster.migrate(&name, (from + 1) % 3);
            calls.join().unwrap()
        });
        all += admitted(&limiter, 400);
        assert_eq!(all, 300, "{algorithm:?}: {:?}", store.metrics());
        assert_eq!(store.metrics().all_failed(), 0, "{:?}", store.metrics());
    }
}

#[test]
fn a_master_that_is_down_takes_only_its_own_limits_with_it() {
    let mut cluster = Cluster::start(false);
    let (sick, well) = (cluster.name_on(2), cluster.name_on(1));
    let store = store(&cluster, Duration::from_millis(300));
    let sick = {
        let config = limit(ALGORITHMS[0], 50, A_YEAR).on_store_failure(OnStoreFailure::Local);
        limiter(&sick, config, &store)
    };
    let well = limiter(&well, limit(ALGORITHMS[1], 1_000, A_YEAR), &store);
    wait_until("the store decides", || well.try_acquire(1).is_ok());
    assert_eq!(admitted(&sick, 2), 2);
    cluster.kill(2);
    let (mut here, mut there, mut longest) = (0, 0, Duration::ZERO);
    for _ in 0..16 {
        let began = Instant::now();
        here += admitted(&sick, 1);
        longest = longest.max(began.elapsed());
        there += admitted(&well, 1);
    }
    assert_eq!(here, 8, "the rest of this process' share of 10");
    assert_eq!(there, 16, "{:?}", store.metrics());
    assert!(longest <= Duration::from_millis(450), "{longest:?}");
    assert_eq!(store.metrics().failed(StoreFailure::Guard), 0, "the others keep it closed");
}

#[test]
fn a_replica_that_takes_over_goes_on_with_the_count() {
    let mut cluster = Cluster::start(true);
    let name = cluster.name_on(2);
    let store = store(&cluster, Duration::from_millis(300));
    for algorithm in ALGORITHMS {
        let limiter = limiter(&name, limit(algorithm, 50, A_YEAR), &store);
        wait_until("the store decides", || limiter.try_acquire(1).is_ok());
    }
    let limiter = limiter(&name, limit(ALGORITHMS[1], 50, A_YEAR), &store);
    let mut all = 1 + admitted(&limiter, 29);
    thread::sleep(Duration::from_millis(100));
    cluster.kill(2);
    let decided = store.metrics().decided;
    wait_until("the replica decides", || {
        all += admitted(&limiter, 1);
        store.metrics().decided > decided
    });
    for _ in 0..5 {
        all += admitted(&limiter, 60);
    }
    // It may have missed what came last.
    assert!((50..=80).contains(&all), "{all}");
}
