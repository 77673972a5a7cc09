//! Servers and ways to them that break, each in its own manner.

use std::{
    net::TcpListener,
    time::{Duration, Instant},
};

use resilience::{
    RateLimiter,
    rate_limiter::OnStoreFailure,
    store::{Store, StoreConfig, StoreFailure},
};
use resilience_redis_tests::{
    limits::{A_YEAR, ALGORITHMS, admitted, limit, limiter, open_with},
    proxy::{Fault, Proxy},
    server::{Server, wait_until},
};

use crate::at_once;

const LIMIT_OF_A_DECISION: Duration = Duration::from_millis(50);
/// What a loaded machine may take for itself.
const SLACK: Duration = Duration::from_millis(150);

fn store(url: &str) -> Store {
    open_with(StoreConfig::builder([url], "test"))
}

/// As many as open the guard, of a limit that has enough: none is let in, none takes longer than
/// it may, all are counted, and the guard is open.
fn five_fail(store: &Store, failure: StoreFailure) {
    let closed = limiter("orders", limit(ALGORITHMS[0], 1_000, A_YEAR), store);
    let before = store.metrics().failed(failure);
    for _ in 0..5 {
        let began = Instant::now();
        assert!(closed.try_acquire(1).is_err(), "{failure:?}");
        let took = began.elapsed();
        assert!(took <= LIMIT_OF_A_DECISION + SLACK, "{failure:?}: {took:?}");
    }
    let metrics = store.metrics();
    assert_eq!(metrics.failed(failure) - before, 5, "{failure:?}: {metrics:?}");
    assert!(metrics.degraded);
    let open = limit(ALGORITHMS[1], 1, A_YEAR).on_store_failure(OnStoreFailure::Open);
    let open = limiter("open", open, store);
    assert_eq!(admitted(&open, 5), 5, "{failure:?}");
    assert!(store.metrics().failed(StoreFailure::Guard) >= 5, "{failure:?}");
}

fn recovers(store: &Store) -> Duration {
    let limiter = limiter("orders", limit(ALGORITHMS[0], 1_000, A_YEAR), store);
    let began = Instant::now();
    wait_until("the store decides", || limiter.try_acquire(1).is_ok());
    began.elapsed()
}

/// Through a proxy that has passed a decision on already.
fn warm(server: &Server) -> (Proxy, Store) {
    let proxy = Proxy::start(server.port());
    let store = store(&proxy.url());
    recovers(&store);
    (proxy, store)
}

#[test]
fn every_answer_that_is_no_decision_has_a_reason_and_an_end() {
    let server = Server::start();
    let cases = [
        (
            &b"-READONLY You can't write against a read only replica.\r\n"[..],
            StoreFailure::ReadOnly,
        ),
        (b"-LOADING Redis is loading the dataset in memory\r\n", StoreFailure::Loading),
        (b"-MOVED 3999 127.0.0.1:1\r\n", StoreFailure::Moved),
        (b"-CLUSTERDOWN The cluster is down\r\n", StoreFailure::Moved),
        (b"-NOAUTH Authentication required.\r\n", StoreFailure::Auth),
        (b"-NOPERM this user has no permissions\r\n", StoreFailure::Auth),
        (b"-BUSY Redis is busy running a script.\r\n", StoreFailure::Refused),
        (b"-OOM command not allowed when used memory > 'maxmemory'.\r\n", StoreFailure::Refused),
        (b"-ERR\r\n", StoreFailure::Refused),
        (b"-NOSCRIPT No matching script.\r\n", StoreFailure::Refused),
        (b"+OK\r\n", StoreFailure::Garbage),
        (b":1\r\n", StoreFailure::Garbage),
        (b"$-1\r\n", StoreFailure::Garbage),
        (b"*-1\r\n", StoreFailure::Garbage),
        (b"*4\r\n*0\r\n*0\r\n*0\r\n*0\r\n", StoreFailure::Garbage),
        (b"\x00\xff\xfe not the protocol\r\n", StoreFailure::Garbage),
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", StoreFailure::Garbage),
    ];
    at_once(cases, |(answer, failure)| {
        let (proxy, store) = warm(&server);
        proxy.set(Fault::Answer(answer));
        five_fail(&store, failure);
        proxy.set(Fault::None);
        let took = recovers(&store);
        assert!(took <= Duration::from_secs(2), "{failure:?}: {took:?}");
    });
}

#[test]
fn a_list_of_something_else_is_no_decision_either() {
    let server = Server::start();
    for answer in [
        &b"*0\r\n"[..],
        b"*1\r\n:1\r\n",
        b"*4\r\n:1\r\n:0\r\n:0\r\n:-1\r\n",
        b"*4\r\n:99\r\n:x\r\n:0\r\n:0\r\n",
        b"*4\r\n:-1\r\n:0\r\n:0\r\n:0\r\n",
        b"*4\r\n:9223372036854775807\r\n:0\r\n:0\r\n:0\r\n",
        b"*4\r\n$1\r\n1\r\n:0\r\n:0\r\n:0\r\n",
    ] {
        let (proxy, store) = warm(&server);
        proxy.set(Fault::Answer(answer));
        let closed = limiter("orders", limit(ALGORITHMS[0], 1_000, A_YEAR), &store);
        let said = String::from_utf8_lossy(answer);
        assert_eq!(admitted(&closed, 5), 0, "{said}");
        let metrics = store.metrics();
        assert!(metrics.degraded, "{said}");
        assert_eq!(metrics.failed(StoreFailure::Garbage), 5, "{said}");
    }
}

#[test]
fn a_way_that_breaks_has_a_reason_and_an_end() {
    let server = Server::start();
    let cases = [
        (Fault::Cut, StoreFailure::Connection),
        (Fault::Reset { after: 0 }, StoreFailure::Connection),
        (Fault::Reset { after: 7 }, StoreFailure::Connection),
        (Fault::Silence { after: 0 }, StoreFailure::Timeout),
        (Fault::Silence { after: 7 }, StoreFailure::Timeout),
        (Fault::Delay(Duration::from_millis(400)), StoreFailure::Timeout),
        (Fault::Hole, StoreFailure::Timeout),
    ];
    at_once(cases, |(fault, failure)| {
        let (proxy, store) = warm(&server);
        proxy.set(fault);
        five_fail(&store, failure);
        proxy.set(Fault::None);
        let took = recovers(&store);
        assert!(took <= Duration::from_secs(3), "{fault:?}: {took:?}");
    });
}

#[test]
fn nobody_is_there_or_only_somebody_who_never_answers() {
    let nobody = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = nobody.local_addr().unwrap();
    // Connections are made, and nobody accepts them.
    five_fail(&store(&format!("redis://{address}")), StoreFailure::Timeout);
    drop(nobody);
    five_fail(&store(&format!("redis://{address}")), StoreFailure::Connection);
}

#[test]
fn a_slow_server_is_used_as_long_as_it_is_in_time() {
    let server = Server::start();
    let proxy = Proxy::start(server.port());
    let config = StoreConfig::builder([proxy.url()], "test");
    let store = open_with(config.decision_timeout(Duration::from_secs(2)));
    for algorithm in ALGORITHMS {
        let limiter = limiter(&format!("{algorithm:?}"), limit(algorithm, 3, A_YEAR), &store);
        proxy.set(Fault::Delay(Duration::from_millis(30)));
        assert_eq!(admitted(&limiter, 6), 3);
    }
    assert_eq!(store.metrics().all_failed(), 0);
}

#[test]
fn k18_a_script_that_was_given_up_is_never_sent_again() {
    let server = Server::start();
    let faults = [
        Fault::Delay(Duration::from_millis(150)),
        Fault::Silence { after: 3 },
        Fault::Reset { after: 3 },
        Fault::Reset { after: 0 },
        Fault::Cut,
    ];
    at_once(faults, |fault| {
        let (proxy, store) = warm(&server);
        let before = proxy.decisions().len();
        proxy.set(fault);
        let limiter = limiter("given-up", limit(ALGORITHMS[0], 1_000, A_YEAR), &store);
        assert_eq!(admitted(&limiter, 4), 0);
        proxy.set(Fault::None);
        recovers(&store);
        let about = |sent: &&Vec<u8>| String::from_utf8_lossy(sent).contains("{given-up}");
        let sent = proxy.decisions().split_off(before).iter().filter(about).count();
        // Behind one that takes its time the next ones are not even passed on.
        assert!((1..=4).contains(&sent), "{fault:?}: {sent}");
    });
}

#[test]
fn an_answer_that_comes_too_late_is_not_taken_for_that_of_the_next_call() {
    let server = Server::start();
    let (proxy, store) = warm(&server);
    let limiters: Vec<RateLimiter> =
        ["full", "empty"].map(|name| limiter(name, limit(ALGORITHMS[0], 1, A_YEAR), &store)).into();
    wait_until("the one permission is taken", || limiters[1].try_acquire(1).is_ok());
    for _ in 0..3 {
        // The late answer says no, the next one has to say yes.
        proxy.set(Fault::Delay(Duration::from_millis(80)));
        assert!(limiters[1].try_acquire(1).is_err());
        proxy.set(Fault::None);
        let name = format!("next-{:?}", Instant::now());
        let next = limiter(&name, limit(ALGORITHMS[0], 1_000, A_YEAR), &store);
        wait_until("let in", || next.try_acquire(1).is_ok());
    }
}

#[test]
fn a_user_who_may_not_is_told_as_such_and_let_in_once_he_may() {
    let server = Server::start_with(&["--requirepass", "sesame"]);
    let port = server.port();
    let at = |who: &str| format!("redis://{who}127.0.0.1:{port}");
    five_fail(&store(&at("")), StoreFailure::Auth);
    five_fail(&store(&at(":wrong@")), StoreFailure::Auth);
    recovers(&store(&at(":sesame@")));

    let mut root = resilience_redis_tests::server::connect(&at(":sesame@")).unwrap();
    let mut acl = |rules: &[&str]| {
        let () = redis::cmd("ACL").arg("SETUSER").arg("shop").arg(rules).query(&mut root).unwrap();
    };
    acl(&["on", ">tree", "resetkeys", "~other:*", "+@all"]);
    let shop = store(&at("shop:tree@"));
    five_fail(&shop, StoreFailure::Auth);
    acl(&["~test:*"]);
    assert!(recovers(&shop) <= Duration::from_secs(3));

    acl(&["-evalsha", "-eval"]);
    five_fail(&store(&at("shop:tree@")), StoreFailure::Auth);
    // What the documentation says a user needs.
    acl(&["-@all", "+evalsha", "+eval", "+get", "+set", "+time", "+ping"]);
    let shop = store(&at("shop:tree@"));
    recovers(&shop);
    // And a script that does something else on his behalf.
    acl(&["-time"]);
    five_fail(&shop, StoreFailure::Auth);
}

#[test]
fn a_server_that_reads_its_data_is_told_as_such_and_used_when_it_has_read() {
    let mut server = Server::start_with(&[
        "--key-load-delay",
        "150",
        "--loading-process-events-interval-bytes",
        "1024",
    ]);
    let store = store(&server.url());
    recovers(&store);
    let mut connection = server.connect();
    let () = redis::cmd("DEBUG").arg("POPULATE").arg(20_000).query(&mut connection).unwrap();
    let () = redis::cmd("SAVE").query(&mut connection).unwrap();
    server.restart();
    let closed = limiter("orders", limit(ALGORITHMS[0], 1_000, A_YEAR), &store);
    wait_until("it is loading", || {
        assert!(closed.try_acquire(1).is_err(), "it has read before anybody asked");
        store.metrics().failed(StoreFailure::Loading) > 0
    });
    recovers(&store);
}

#[test]
fn a_server_without_memory_refuses_and_is_told_as_such() {
    let server = Server::start();
    let store = store(&server.url());
    recovers(&store);
    let mut connection = server.connect();
    let set = |memory: &str, connection: &mut redis::Connection| {
        let mut command = redis::cmd("CONFIG");
        let () = command.arg("SET").arg("maxmemory").arg(memory).query(connection).unwrap();
    };
    set("1", &mut connection);
    five_fail(&store, StoreFailure::Refused);
    set("0", &mut connection);
    assert!(recovers(&store) <= Duration::from_secs(3));
}
