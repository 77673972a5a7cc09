//! What is sent to the server, and what the server remembers of it.

use std::{collections::BTreeSet, thread, time::Duration};

use resilience_redis_tests::{
    limits::{A_YEAR, ALGORITHMS, admitted, limit, limiter, open},
    proxy::Proxy,
    server::Server,
};

#[test]
fn k04_a_server_that_has_forgotten_the_scripts_is_told_them_again() {
    let server = Server::start();
    let (store, mut connection) = (open(&server.url()), server.connect());
    for algorithm in ALGORITHMS {
        let limiter = limiter(&format!("{algorithm:?}"), limit(algorithm, 20, A_YEAR), &store);
        let mut all = 0;
        for _ in 0..40 {
            let () = redis::cmd("SCRIPT").arg("FLUSH").query(&mut connection).unwrap();
            all += admitted(&limiter, 1);
        }
        assert_eq!(all, 20, "{algorithm:?}");
    }
    assert_eq!(store.metrics().all_failed(), 0);
}

#[test]
fn k08_a_server_that_has_lost_its_data_costs_one_burst() {
    let server = Server::start();
    let (store, mut connection) = (open(&server.url()), server.connect());
    for algorithm in ALGORITHMS {
        let limiter = limiter(&format!("{algorithm:?}"), limit(algorithm, 50, A_YEAR), &store);
        assert_eq!(admitted(&limiter, 60), 50);
        let () = redis::cmd("FLUSHALL").query(&mut connection).unwrap();
        assert_eq!(admitted(&limiter, 200), 50, "{algorithm:?}");
    }
    assert_eq!(store.metrics().all_failed(), 0);
}

/// Two clients whose clocks differ by ten seconds send what two calls of one client send that are a
/// second apart: nothing that depends on a clock.
#[test]
fn k02_what_is_sent_does_not_depend_on_the_clients_clock() {
    let server = Server::start();
    for algorithm in ALGORITHMS {
        let proxy = Proxy::start(server.port());
        let store = open(&proxy.url());
        let limiter = limiter(&format!("{algorithm:?}"), limit(algorithm, 4, A_YEAR), &store);
        // The first one may have to tell the script.
        let _ = limiter.try_acquire(1);
        let _ = limiter.try_acquire(1);
        thread::sleep(Duration::from_millis(1_100));
        let _ = limiter.try_acquire(1);
        let sent = proxy.decisions();
        let [.., early, late] = &sent[..] else { panic!("two decisions") };
        assert_eq!(early, late, "{algorithm:?}");
        assert!(
            early.starts_with(b"*8\r\n$7\r\nEVALSHA\r\n"),
            "{}",
            String::from_utf8_lossy(early)
        );
    }
}

/// All of these are there since Redis 2.6, and none has to be allowed in a script first.
#[test]
fn k03_scripts_call_what_every_version_of_the_server_has() {
    let server = Server::start();
    let store = open(&server.url());
    let before: BTreeSet<_> = server.commands().into_iter().collect();
    for algorithm in ALGORITHMS {
        let limiter = limiter(&format!("{algorithm:?}"), limit(algorithm, 3, A_YEAR), &store);
        assert_eq!(admitted(&limiter, 10), 3);
    }
    let called: BTreeSet<_> = server.commands().into_iter().collect();
    let new: Vec<_> = called.difference(&before).filter(|name| !name.contains('|')).collect();
    assert_eq!(new, ["eval", "evalsha", "get", "set", "time"]);
}
