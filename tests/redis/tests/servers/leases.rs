//! Permissions that are fetched in blocks.

use std::{
    thread,
    time::{Duration, Instant},
};

use futures_util::future::join_all;
use resilience::{RateLimiter, rate_limiter::Algorithm};
use resilience_redis_tests::{
    limits::{A_YEAR, ALGORITHMS, admitted, limit, limiter, open},
    nodes::{self, Task},
    server::{Server, wait_for_a_window},
};

const NODE: &str = env!("CARGO_BIN_EXE_node");

#[test]
fn eight_processes_that_fetch_blocks_admit_exactly_the_limit_when_all_are_used() {
    let server = Server::start();
    for algorithm in ALGORITHMS {
        let task = Task { lease: 10, ..Task::new(&server.url(), algorithm, 50) };
        let admitted = nodes::run(NODE, 8, &task);
        assert_eq!(admitted.iter().sum::<u32>(), 50, "{algorithm:?}: {admitted:?}");
    }
}

#[test]
fn blocks_save_most_of_the_asking() {
    let server = Server::start();
    let store = open(&server.url());
    for algorithm in ALGORITHMS {
        let before = server.calls_of("evalsha");
        let config = limit(algorithm, 1_000, A_YEAR).lease(20);
        assert_eq!(admitted(&limiter(&format!("{algorithm:?}"), config, &store), 200), 200);
        let asked = server.calls_of("evalsha") - before;
        assert!(asked <= 11, "{algorithm:?}: asked {asked} times, once perhaps for its name");
    }
}

#[tokio::test]
async fn of_many_calls_at_a_time_one_fetches_for_the_others() {
    let server = Server::start();
    let store = open(&server.url());
    for algorithm in ALGORITHMS {
        let before = server.calls_of("evalsha");
        let config = limit(algorithm, 1_000, A_YEAR).lease(50);
        let limiter = limiter(&format!("{algorithm:?}"), config, &store);
        let answers = join_all((0..200).map(|_| limiter.acquire(1))).await;
        assert!(answers.iter().all(Result::is_ok));
        let asked = server.calls_of("evalsha") - before;
        assert!(asked <= 5, "{algorithm:?}: asked {asked} times");
    }
}

const PERIOD: Duration = Duration::from_secs(2);

/// Four nodes, each with the rest of a block of 10 in its hands.
fn four_nodes_with_rests(server: &Server, name: &str, algorithm: Algorithm) -> Vec<RateLimiter> {
    let node = |_| {
        let config = limit(algorithm, 100, PERIOD).lease(10);
        limiter(name, config, &open(&server.url()))
    };
    let nodes: Vec<_> = (0..4).map(node).collect();
    assert!(nodes.iter().all(|node| node.try_acquire(1).is_ok()));
    nodes
}

/// What the nodes together are given until all of them are refused, and what came back meanwhile.
fn all_there_is(nodes: &[RateLimiter]) -> (u32, u32) {
    let began = Instant::now();
    let all = nodes.iter().map(|node| admitted(node, 150)).sum();
    let share = began.elapsed().as_secs_f64() / PERIOD.as_secs_f64();
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a few
    (all, (share * 100.0).ceil() as u32 + 1)
}

#[test]
fn k12_four_nodes_with_blocks_of_10_admit_at_most_36_more_in_a_period() {
    let server = Server::start();
    let nodes = four_nodes_with_rests(&server, "gcra", Algorithm::Gcra);
    // All that was taken is back, and the rests are still good.
    thread::sleep(PERIOD.mul_f64(0.5));
    let (all, came_back) = all_there_is(&nodes);
    assert!((101..=136 + came_back).contains(&all), "{all}, {came_back} came back");

    wait_for_a_window(&server, PERIOD);
    let nodes = four_nodes_with_rests(&server, "window", Algorithm::FixedWindow);
    let (all, _) = all_there_is(&nodes);
    assert_eq!(all, 96, "in one window blocks never add up to more");
}

#[test]
fn k12_what_was_fetched_and_not_used_expires() {
    let server = Server::start();
    let nodes = four_nodes_with_rests(&server, "gcra", Algorithm::Gcra);
    thread::sleep(PERIOD + Duration::from_millis(100));
    let (all, came_back) = all_there_is(&nodes);
    assert!(all <= 100 + came_back, "{all}, {came_back} came back");

    let nodes = four_nodes_with_rests(&server, "window", Algorithm::FixedWindow);
    wait_for_a_window(&server, PERIOD);
    let (all, _) = all_there_is(&nodes);
    assert_eq!(all, 100);
}
