//! Breakers that share a state, each with a connection of its own as in a process of its own.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
    thread::{scope, sleep},
    time::{Duration, Instant},
};

use resilience::{
    CircuitBreaker, CircuitBreakerConfig,
    circuit_breaker::{
        CircuitBreakerConfigBuilder, CircuitBreakerEventKind, Permit, Scope,
        State::{self, Closed, ForcedOpen, HalfOpen, Open},
    },
    events::RecentEvent,
    store::{Store, StoreConfig},
};

use resilience_redis_tests::server::Server;

const SYNC: Duration = Duration::from_millis(100);
const DECISION: Duration = Duration::from_secs(1);
/// What a machine that is busy may take longer.
const PATIENCE: Duration = Duration::from_secs(10);

/// Opens for a second at half of twenty calls; two processes must see it.
fn config() -> CircuitBreakerConfigBuilder {
    CircuitBreakerConfig::builder()
        .scope(Scope::Global)
        .sync_interval(SYNC)
        .minimum_number_of_calls(20)
        .wait_duration_in_open_state(Duration::from_secs(1))
        .permitted_number_of_calls_in_half_open_state(4)
}

/// A process: its store and its breaker.
struct Node {
    store: Store,
    breaker: CircuitBreaker,
}

impl Node {
    fn start(server: &Server, config: &CircuitBreakerConfigBuilder, nodes: u32) -> Self {
        let store = StoreConfig::builder([server.url()], "shop")
            .decision_timeout(DECISION)
            .nodes(nodes)
            .build()
            .unwrap();
        let store = Store::open(store).unwrap();
        let config = config.clone().build().unwrap();
        Self { breaker: CircuitBreaker::with_store("pay", config, &store), store }
    }

    fn several<const N: usize>(server: &Server, config: &CircuitBreakerConfigBuilder) -> [Self; N] {
        let nodes = u32::try_from(N).unwrap();
        let all = [(); N].map(|()| Self::start(server, config, nodes));
        for node in &all {
            wait_for("it hears of the store", || node.is_shared());
        }
        all
    }

    fn state(&self) -> State {
        self.breaker.state()
    }

    fn is_shared(&self) -> bool {
        self.breaker.metrics().shared
    }

    fn fail(&self, calls: usize) {
        (0..calls).for_each(|_| self.breaker.try_acquire().unwrap().failure());
    }

    fn succeed(&self, calls: usize) {
        (0..calls).for_each(|_| self.breaker.try_acquire().unwrap().success());
    }

    fn transitions(&self) -> Vec<RecentEvent> {
        let mut events = self.breaker.events().recent();
        events.retain(|event| event.type_name == "STATE_TRANSITION");
        events
    }
}

pub(crate) fn wait_for(what: &str, mut is_so: impl FnMut() -> bool) -> Duration {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < PATIENCE, "{what}: not so after {PATIENCE:?}");
        sleep(Duration::from_millis(1));
    }
    begun.elapsed()
}

fn all_become(state: State, nodes: &[Node]) -> Duration {
    let shared = |node: &Node| node.state() == state && node.is_shared();
    wait_for(&format!("all are {state}"), || nodes.iter().all(shared))
}

/// Lets several exchanges pass, and sees that all stay as they are.
fn all_stay(state: State, nodes: &[Node]) {
    let begun = Instant::now();
    while begun.elapsed() < SYNC * 5 {
        assert!(nodes.iter().all(|node| node.state() == state));
        sleep(Duration::from_millis(5));
    }
}

/// Opens the breakers of all by failures that are too few for each of them alone.
fn open(nodes: &[Node]) {
    for node in nodes {
        node.fail(19);
    }
    all_become(Open, nodes);
}

#[test]
fn two_nodes_open_together_and_a_third_with_them() {
    let server = Server::start();
    let nodes = Node::several::<3>(&server, &config());
    let changes = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&changes);
    let listens = nodes[2].breaker.events().subscribe(move |event| {
        if let CircuitBreakerEventKind::StateTransition { to, shared, .. } = event.kind {
            heard.lock().unwrap().push((to, shared));
        }
    });
    nodes[0].fail(15);
    nodes[1].fail(15);
    let took = all_become(Open, &nodes);
    assert!(took < SYNC * 2 + PATIENCE / 10, "{took:?}");
    let refused = nodes[2].breaker.try_acquire().unwrap_err();
    let wait = refused.retry_after().unwrap();
    assert!(wait <= Duration::from_secs(1) && wait > Duration::from_millis(500), "{wait:?}");
    assert_eq!(*changes.lock().unwrap(), [(Open, true)]);
    assert_eq!(nodes[2].breaker.metrics().totals.transitions, 1);
    drop(listens);
    server.keys();
}

#[test]
fn one_sick_node_opens_the_others_only_where_one_is_enough() {
    let server = Server::start();
    let nodes = Node::several::<3>(&server, &config());
    nodes[1].succeed(10);
    nodes[0].fail(20);
    assert_eq!(nodes[0].state(), Open, "for itself");
    assert!(!nodes[0].is_shared());
    all_stay(Closed, &nodes[1..]);

    let server = Server::start();
    let nodes = Node::several::<3>(&server, &config().min_nodes(1));
    nodes[0].fail(20);
    all_become(Open, &nodes);
}

#[test]
fn probes_of_all_nodes_never_exceed_the_permitted_number_and_recovery_closes_everybody() {
    const INTERVAL: Duration = Duration::from_millis(500);
    let server = Server::start();
    let config = config().permitted_number_of_calls_in_half_open_state(3);
    let nodes = Node::several::<4>(&server, &config.sync_interval(INTERVAL));
    open(&nodes);
    let mut probes: Vec<Permit> = Vec::new();
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(4) {
        probes.extend(nodes.iter().filter_map(|node| node.breaker.try_acquire().ok()));
        sleep(Duration::from_millis(1));
    }
    assert_eq!(probes.len(), 3);
    assert!(nodes.iter().all(|node| node.state() == HalfOpen));
    let ended = Instant::now();
    probes.into_iter().for_each(Permit::success);
    all_become(Closed, &nodes);
    assert!(ended.elapsed() < INTERVAL * 2 + Duration::from_millis(300), "{:?}", ended.elapsed());
    for node in &nodes {
        let told: Vec<_> = node.transitions().iter().map(|event| event.transition).collect();
        let told: Vec<_> = told.into_iter().flatten().collect();
        assert_eq!(told, [("CLOSED", "OPEN"), ("OPEN", "HALF_OPEN"), ("HALF_OPEN", "CLOSED")]);
    }
}

#[test]
fn failed_probes_of_one_node_open_all_again() {
    let server = Server::start();
    let nodes = Node::several::<2>(&server, &config().enable_exponential_backoff(true));
    open(&nodes);
    wait_for("they open again", || {
        drop(nodes[0].breaker.try_acquire().map(Permit::failure));
        nodes.iter().all(|node| node.transitions().len() == 3 && node.state() == Open)
    });
    let wait = nodes[0].breaker.try_acquire().unwrap_err().retry_after().unwrap();
    assert!(wait > Duration::from_secs(1), "longer after another opening: {wait:?}");
}

#[test]
fn a_node_that_starts_late_hears_of_it_at_once() {
    let server = Server::start();
    let nodes = Node::several::<2>(&server, &config().sync_interval(Duration::from_mins(1)));
    drop(nodes);
    let config = config().wait_duration_in_open_state(Duration::from_mins(1));
    let nodes = Node::several::<2>(&server, &config);
    open(&nodes);
    let late = Node::start(&server, &config.sync_interval(Duration::from_mins(1)), 3);
    wait_for("it opens with its first exchange", || late.state() == Open);
}

#[test]
fn without_the_store_each_goes_on_alone_and_with_it_together_again() {
    let mut server = Server::start();
    let config = config().wait_duration_in_open_state(Duration::from_millis(300));
    let nodes = Node::several::<2>(&server, &config);
    open(&nodes);
    server.kill();
    wait_for("both are alone", || nodes.iter().all(|node| !node.is_shared()));
    wait_for("each closes by probes of its own", || {
        for node in &nodes {
            drop(node.breaker.try_acquire().map(Permit::success));
        }
        nodes.iter().all(|node| node.state() == Closed)
    });
    wait_for("it opens by calls of its own", || {
        drop(nodes[0].breaker.try_acquire().map(Permit::failure));
        nodes[0].state() == Open
    });
    assert_eq!(nodes[1].state(), Closed);
    let degraded = nodes[0].store.events().recent();
    let degraded = degraded.iter().filter(|event| event.type_name == "DEGRADED");
    assert_eq!(degraded.count(), 1);

    for node in &nodes {
        node.breaker.reset();
    }
    server.restart();
    all_become(Closed, &nodes);
    open(&nodes);
}

#[test]
fn a_store_that_has_lost_everything_has_closed_everybody() {
    let server = Server::start();
    let config = config().wait_duration_in_open_state(Duration::from_mins(1));
    let nodes = Node::several::<2>(&server, &config);
    open(&nodes);
    redis::cmd("FLUSHALL").exec(&mut server.connect()).unwrap();
    all_become(Closed, &nodes);
    open(&nodes);
}

#[test]
fn observers_never_write() {
    let server = Server::start();
    let nodes = Node::several::<2>(&server, &config());
    let writes = server.writes();
    all_stay(Closed, &nodes);
    assert_eq!(server.writes(), writes);
    assert!(server.keys().is_empty());
    open(&nodes);
    let writes = server.writes();
    // Also when its time is over: nobody has calls.
    sleep(Duration::from_millis(1_100));
    all_stay(Open, &nodes);
    assert_eq!(server.writes(), writes);
    assert!(!server.keys().is_empty());
}

#[test]
fn a_state_that_was_chosen_by_hand_wins_until_a_reset() {
    let server = Server::start();
    let config = config().min_nodes(1).wait_duration_in_open_state(Duration::from_mins(1));
    let nodes = Node::several::<2>(&server, &config);
    nodes[1].breaker.transition_to(Closed).unwrap();
    nodes[0].fail(20);
    all_become(Open, &nodes[..1]);
    all_stay(Closed, &nodes[1..]);
    assert!(!nodes[1].is_shared());
    nodes[1].breaker.transition_to(ForcedOpen).unwrap();
    all_stay(ForcedOpen, &nodes[1..]);
    nodes[1].breaker.reset();
    all_become(Open, &nodes);
}

#[test]
fn the_breakers_of_a_key_share_a_state_of_their_own() {
    let server = Server::start();
    let nodes = Node::several::<2>(&server, &config());
    let keyed = |key: &str| {
        let store = nodes.each_ref().map(|node| node.store.clone());
        let breakers = nodes.each_ref().map(|node| node.breaker.keyed(key));
        let [a, b] = breakers;
        let [x, y] = store;
        [Node { store: x, breaker: a }, Node { store: y, breaker: b }]
    };
    let (eu, us) = (keyed("eu"), keyed("us"));
    wait_for("they hear of the store", || eu.iter().chain(&us).all(Node::is_shared));
    open(&eu);
    all_stay(Closed, &us);
    all_stay(Closed, &nodes);
}

/// Two nodes and the only probe, which the first one has; it loses it after this long.
fn one_has_the_probe(server: &Server, lease: Duration) -> (Node, Permit, Node) {
    let config = config()
        .permitted_number_of_calls_in_half_open_state(1)
        .probe_lease(lease)
        .wait_duration_in_open_state(Duration::from_millis(100));
    let nodes = Node::several::<2>(server, &config);
    open(&nodes);
    let [one, other] = nodes;
    let mut probe = None;
    wait_for("one gets the probe", || {
        probe = one.breaker.try_acquire().ok();
        probe.is_some()
    });
    (one, probe.unwrap(), other)
}

fn gets_the_probe(node: &Node) -> Duration {
    let took = wait_for("the other gets the probe", || {
        node.breaker.try_acquire().map(Permit::success).is_ok()
    });
    wait_for("it closes", || node.state() == Closed);
    took
}

#[test]
fn a_node_that_dies_leaves_its_probes_to_others_after_their_lease() {
    let server = Server::start();
    let lease = Duration::from_millis(500);
    let (dying, probe, other) = one_has_the_probe(&server, lease);
    drop((probe, dying));
    let took = gets_the_probe(&other);
    assert!(took + SYNC * 2 > lease, "{took:?}");
}

#[test]
fn a_probe_that_hangs_is_left_to_others_after_its_lease() {
    let server = Server::start();
    let lease = Duration::from_millis(500);
    let (one, hangs, other) = one_has_the_probe(&server, lease);
    let took = gets_the_probe(&other);
    assert!(took + SYNC * 2 > lease, "{took:?}");
    wait_for("all close", || one.state() == Closed);
    hangs.failure();
    assert_eq!(one.breaker.metrics().buffered_calls, 0, "that was another stay");
}

#[test]
fn every_call_is_told_once() {
    const CALLS: usize = 20_000;
    let server = Server::start();
    let config = config().failure_rate_threshold(100.0).sync_interval(Duration::from_millis(50));
    let nodes = Node::several::<2>(&server, &config);
    scope(|scope| {
        for node in [&nodes[0], &nodes[0], &nodes[1], &nodes[1]] {
            scope.spawn(|| {
                for call in 0..CALLS {
                    let permit = node.breaker.try_acquire().unwrap();
                    // Long runs of successes, which are counted without the lock.
                    if call % 1_000 == 999 { permit.failure() } else { permit.success() }
                }
            });
        }
    });
    let told = || {
        let fields: HashMap<String, String> =
            redis::cmd("HGETALL").arg("shop:cb:{pay}").query(&mut server.connect()).unwrap();
        let buckets = fields.iter().filter(|(name, _)| name.starts_with("bucket"));
        buckets.fold((0, 0), |(calls, failed), (_, bucket)| {
            let numbers: Vec<usize> =
                bucket.split(' ').map(|number| number.parse().unwrap()).collect();
            (calls + numbers[1], failed + numbers[2])
        })
    };
    let all = (4 * CALLS, 4 * CALLS / 1_000);
    wait_for("all is told", || told() == all);
    sleep(SYNC * 2);
    assert_eq!(told(), all);
}

#[test]
fn a_store_that_stands_still_holds_up_no_call() {
    let server = Server::start();
    let nodes = Node::several::<2>(&server, &config());
    server.stop();
    let begun = Instant::now();
    let (mut calls, mut slowest) = (0, Duration::ZERO);
    while begun.elapsed() < Duration::from_secs(3) {
        let call = Instant::now();
        nodes[0].succeed(1);
        calls += 1;
        slowest = slowest.max(call.elapsed());
    }
    server.go_on();
    // A call that waited for the store would take the second that the store may take.
    assert!(calls > 1_000 && slowest < DECISION, "{calls} calls, {slowest:?}");
    all_become(Closed, &nodes);
}

#[test]
fn a_breaker_that_is_gone_asks_no_more() {
    let server = Server::start();
    let [node] = Node::several::<1>(&server, &config());
    let Node { store, breaker } = node;
    drop(breaker);
    sleep(SYNC * 2);
    let decided = store.metrics().decided;
    sleep(SYNC * 3);
    assert_eq!(store.metrics().decided, decided);
}

#[test]
fn a_listener_that_takes_its_time_holds_up_no_exchange() {
    let server = Server::start();
    let nodes = Node::several::<2>(&server, &config());
    let listens = nodes[0].breaker.events().subscribe(|event| {
        if let CircuitBreakerEventKind::StateTransition { .. } = event.kind {
            sleep(Duration::from_secs(1));
        }
    });
    open(&nodes[..]);
    let decided = nodes[0].store.metrics().decided;
    sleep(SYNC * 4);
    assert!(nodes[0].store.metrics().decided > decided + 1);
    drop(listens);
}
