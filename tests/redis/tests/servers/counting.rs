//! However many ask, as many are let in as the limit says.

use std::{thread, time::Duration};

use futures_util::future::join_all;
use resilience::rate_limiter::Algorithm;
use resilience_redis_tests::{
    limits::{A_YEAR, ALGORITHMS, admitted, limit, limiter, open},
    nodes::{self, Task},
    server::Server,
};

const NODE: &str = env!("CARGO_BIN_EXE_node");

#[test]
fn eight_processes_with_200_calls_each_admit_exactly_the_limit_of_50() {
    let server = Server::start();
    for algorithm in ALGORITHMS {
        let admitted = nodes::run(NODE, 8, &Task::new(&server.url(), algorithm, 50));
        assert_eq!(admitted.iter().sum::<u32>(), 50, "{algorithm:?}: {admitted:?}");
    }
}

#[test]
fn k17_two_processes_under_a_limit_of_10_let_10_of_20_calls_in() {
    let server = Server::start();
    for algorithm in ALGORITHMS {
        let task = Task { calls: 10, ..Task::new(&server.url(), algorithm, 10) };
        let admitted = nodes::run(NODE, 2, &task);
        assert_eq!(admitted.iter().sum::<u32>(), 10, "{algorithm:?}: {admitted:?}");
    }
}

#[test]
fn k19_eight_connections_that_ask_at_the_same_time_never_decide_on_the_same_count() {
    let server = Server::start();
    for algorithm in ALGORITHMS {
        let name = format!("{algorithm:?}");
        let all = thread::scope(|scope| {
            let ask = || {
                let config = limit(algorithm, 50, A_YEAR);
                admitted(&limiter(&name, config, &open(&server.url())), 200)
            };
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(ask)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).sum::<u32>()
        });
        assert_eq!(all, 50, "{algorithm:?}");
    }
}

#[tokio::test]
async fn k21_of_200_calls_that_are_sent_at_once_3_are_let_in() {
    let server = Server::start();
    let store = open(&server.url());
    for algorithm in ALGORITHMS {
        let limiter = limiter(&format!("{algorithm:?}"), limit(algorithm, 3, A_YEAR), &store);
        let answers = join_all((0..200).map(|_| limiter.acquire(1))).await;
        assert_eq!(answers.iter().filter(|answer| answer.is_ok()).count(), 3, "{algorithm:?}");
        let metrics = limiter.metrics();
        assert_eq!((metrics.permitted, metrics.refused), (3, 197), "{algorithm:?}");
    }
}

#[test]
fn every_server_that_is_installed_counts_the_same() {
    for program in Server::programs() {
        let server = Server::start_program(&program, &[]);
        let store = open(&server.url());
        for algorithm in ALGORITHMS {
            let limiter = limiter(&format!("{algorithm:?}"), limit(algorithm, 5, A_YEAR), &store);
            assert_eq!(admitted(&limiter, 20), 5, "{} {algorithm:?}", program.display());
        }
    }
}

#[test]
fn several_permissions_are_taken_together_or_not_at_all() {
    let server = Server::start();
    let store = open(&server.url());
    for algorithm in ALGORITHMS {
        let limiter = limiter(&format!("{algorithm:?}"), limit(algorithm, 10, A_YEAR), &store);
        assert!(limiter.try_acquire(4).is_ok());
        assert!(limiter.try_acquire(4).is_ok());
        assert!(limiter.try_acquire(4).is_err(), "two are left");
        assert_eq!(limiter.available_permissions(), 2);
        assert!(limiter.try_acquire(2).is_ok());
        assert!(limiter.try_acquire(1).is_err());
    }
}

#[test]
fn no_wait_is_told_to_who_asks_for_more_than_the_limit() {
    let server = Server::start();
    let store = open(&server.url());
    for algorithm in ALGORITHMS {
        let limiter = limiter(&format!("{algorithm:?}"), limit(algorithm, 10, A_YEAR), &store);
        let refused = limiter.try_acquire(11).unwrap_err();
        assert_eq!(refused.retry_after(), None, "{algorithm:?}");
        assert_eq!(admitted(&limiter, 20), 10, "{algorithm:?}: nothing was taken");
    }
}

#[test]
fn who_asks_for_no_permission_takes_none() {
    let server = Server::start();
    let store = open(&server.url());
    for algorithm in ALGORITHMS {
        for lease in [1, 2] {
            let config = limit(algorithm, 10, A_YEAR).lease(lease);
            let limiter = limiter(&format!("{algorithm:?}-{lease}"), config, &store);
            assert!((0..20).all(|_| limiter.try_acquire(0).is_ok()));
            assert_eq!(admitted(&limiter, 20), 10, "{algorithm:?}, lease {lease}");
            assert!(limiter.try_acquire(0).is_ok(), "there are always none");
        }
    }
}

#[test]
fn a_limit_that_is_changed_holds_from_the_next_call_on() {
    let server = Server::start();
    let store = open(&server.url());
    // In windows what was taken is a number of calls; by GCRA it is a part of the period.
    for (algorithm, more, then) in [(Algorithm::FixedWindow, 16, 0), (Algorithm::Gcra, 12, 0)] {
        let limiter = limiter(&format!("{algorithm:?}"), limit(algorithm, 10, A_YEAR), &store);
        assert_eq!(admitted(&limiter, 4), 4);
        limiter.change_limit_for_period(20).unwrap();
        assert_eq!(admitted(&limiter, 40), more, "{algorithm:?}");
        limiter.change_limit_for_period(3).unwrap();
        assert_eq!(admitted(&limiter, 10), then, "{algorithm:?}");
    }
}

#[test]
fn a_shorter_period_holds_from_the_next_call_on() {
    const PERIOD: Duration = Duration::from_millis(300);
    let server = Server::start();
    let store = open(&server.url());
    for algorithm in ALGORITHMS {
        let name = format!("{algorithm:?}");
        let long = limiter(&name, limit(algorithm, 3, A_YEAR), &store);
        assert_eq!(admitted(&long, 10), 3);
        let short = limiter(&name, limit(algorithm, 3, PERIOD), &store);
        if let Err(refused) = short.try_acquire(3) {
            thread::sleep(refused.retry_after().unwrap());
            assert!(short.try_acquire(3).is_ok(), "{algorithm:?}: as was told");
        }
    }
}
