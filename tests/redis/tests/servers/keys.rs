//! What is in the server under a limit's key.

use std::{thread, time::Duration};

use redis::{Commands, Connection};
use resilience::{
    rate_limiter::Algorithm,
    store::{StoreConfig, StoreFailure},
};
use resilience_redis_tests::{
    limits::{A_YEAR, ALGORITHMS, admitted, limit, limiter, open, open_with, patient},
    server::Server,
};

fn keys(connection: &mut Connection) -> Vec<String> {
    let mut keys: Vec<String> = connection.keys("*").expect("a server that is up");
    keys.sort();
    keys
}

/// The one key that is there.
fn only_key(connection: &mut Connection) -> String {
    let [key] = <[String; 1]>::try_from(keys(connection)).expect("one key");
    key
}

#[test]
fn k05_every_key_expires_when_it_says_nothing_any_more() {
    const MILLISECOND: Duration = Duration::from_millis(1);
    let server = Server::start();
    let (store, mut connection) = (open(&server.url()), server.connect());
    for algorithm in ALGORITHMS {
        for period in [MILLISECOND, MILLISECOND * 100, MILLISECOND * 2_500, A_YEAR] {
            let () = redis::cmd("FLUSHALL").query(&mut connection).unwrap();
            let name = format!("{algorithm:?}-{period:?}");
            let limiter = limiter(&name, limit(algorithm, 5, period), &store);
            let longest = match algorithm {
                Algorithm::Gcra => period + MILLISECOND,
                _ => period + MILLISECOND * 1_001,
            };
            let mut seen = 0;
            for _ in 0..8 {
                // A refusal is no reason for a key to stay either.
                let _ = limiter.try_acquire(1);
                for key in keys(&mut connection) {
                    let left: i64 = connection.pttl(&key).unwrap();
                    // Or it is gone by now.
                    let bound = i64::try_from(longest.as_millis()).unwrap();
                    assert!(left == -2 || (0..=bound).contains(&left), "{key}: {left} ms");
                    seen += 1;
                }
            }
            assert!(seen > 0 || period == MILLISECOND, "{name}");
        }
    }
}

#[test]
fn keys_are_gone_after_their_time() {
    let server = Server::start();
    let (store, mut connection) = (open(&server.url()), server.connect());
    for algorithm in ALGORITHMS {
        let config = limit(algorithm, 5, Duration::from_millis(100));
        assert_eq!(admitted(&limiter(&format!("{algorithm:?}"), config, &store), 5), 5);
    }
    thread::sleep(Duration::from_millis(1_300));
    assert_eq!(keys(&mut connection), [""; 0]);
}

#[test]
fn k10_a_refused_call_leaves_the_key_as_it_was() {
    let server = Server::start();
    let (store, mut connection) = (open(&server.url()), server.connect());
    for algorithm in ALGORITHMS {
        let () = redis::cmd("FLUSHALL").query(&mut connection).unwrap();
        let limiter = limiter(&format!("{algorithm:?}"), limit(algorithm, 3, A_YEAR), &store);
        assert!(limiter.try_acquire(2).is_ok());
        let key = only_key(&mut connection);
        let mut state = || -> (Vec<u8>, i64) {
            let expires = redis::cmd("PEXPIRETIME").arg(&key).query(&mut connection).unwrap();
            (redis::cmd("DUMP").arg(&key).query(&mut connection).unwrap(), expires)
        };
        let before = state();
        for permits in [2, 3, 4, u32::MAX] {
            assert!(limiter.try_acquire(permits).is_err(), "{algorithm:?}: {permits}");
            assert_eq!(state(), before, "{algorithm:?}: {permits}");
        }
    }
}

#[test]
fn k09_programs_with_different_namespaces_share_nothing() {
    let server = Server::start();
    for algorithm in ALGORITHMS {
        for namespace in ["shop", "shop:staging", "sho"] {
            let config = StoreConfig::builder([server.url()], namespace);
            let store = open_with(config.decision_timeout(Duration::from_secs(10)));
            let limiter = limiter(&format!("{algorithm:?}"), limit(algorithm, 3, A_YEAR), &store);
            assert_eq!(admitted(&limiter, 10), 3, "{namespace}");
        }
    }
    let all = keys(&mut server.connect());
    assert!(all.iter().all(|key| key.starts_with("sho")), "{all:?}");
}

#[test]
fn whatever_a_limit_is_called_it_is_one_of_its_own() {
    let server = Server::start();
    let (store, mut connection) = (open(&server.url()), server.connect());
    let long = "x".repeat(10_000);
    let names = [
        "orders",
        "{orders}",
        "orders}",
        "{",
        "or:ders",
        "or/ders",
        "Bestellungen 🛒",
        "größe",
        "",
        " ",
        "a\nb\r\n",
        "*",
        &long,
        &long[1..],
    ];
    for algorithm in ALGORITHMS {
        let () = redis::cmd("FLUSHALL").query(&mut connection).unwrap();
        for name in names {
            let limiter = limiter(name, limit(algorithm, 3, A_YEAR), &store);
            assert_eq!(admitted(&limiter, 10), 3, "{name:.20}");
        }
        let all = keys(&mut connection);
        assert_eq!(all.len(), names.len(), "{all:?}");
        assert!(all.iter().all(|key| key.len() < 160 && key.is_ascii()), "{all:?}");
    }
}

#[test]
fn every_key_of_a_keyed_limit_has_the_limit_for_itself() {
    let server = Server::start();
    let (store, mut connection) = (open(&server.url()), server.connect());
    let long = "tenant".repeat(2_000);
    for algorithm in ALGORITHMS {
        let () = redis::cmd("FLUSHALL").query(&mut connection).unwrap();
        let of_all = || limiter("orders", limit(algorithm, 3, A_YEAR), &store);
        let (one, other) = (of_all(), of_all());
        for key in ["a", "b", "a/b", "", "{a}", "ä", &long, &long[1..]] {
            let both = admitted(&one.keyed(key), 2) + admitted(&other.keyed(key), 10);
            assert_eq!(both, 3, "{key:.20}: two instances of one key");
        }
        assert_eq!(admitted(&one, 10), 3, "the name without a key");
        let all = keys(&mut connection);
        assert_eq!(all.len(), 9, "{all:?}");
        assert!(all.iter().all(|key| key.len() < 160), "{all:?}");
    }
}

#[test]
fn keys_without_room_share_a_limit_that_is_not_the_one_of_the_name() {
    let server = Server::start();
    let store = open(&server.url());
    for algorithm in ALGORITHMS {
        let config = limit(algorithm, 3, A_YEAR).max_keys(1);
        let [one, other] =
            [(); 2].map(|()| limiter(&format!("{algorithm:?}"), config.clone(), &store));
        assert_eq!(admitted(&one.keyed("room"), 10), 3);
        assert_eq!(admitted(&other.keyed("other room"), 10), 3);
        let shared = admitted(&one.keyed("a"), 2) + admitted(&other.keyed("b"), 10);
        assert_eq!(shared, 3, "all processes have it together");
        assert_eq!(admitted(&one, 10), 3, "the name without a key");
    }
}

#[test]
fn k16_what_makes_no_sense_under_a_key_counts_as_nothing() {
    let server = Server::start();
    let (store, mut connection) = (open(&server.url()), server.connect());
    for algorithm in ALGORITHMS {
        let () = redis::cmd("FLUSHALL").query(&mut connection).unwrap();
        let limiter = limiter(&format!("{algorithm:?}"), limit(algorithm, 3, A_YEAR), &store);
        assert_eq!(admitted(&limiter, 10), 3);
        let key = only_key(&mut connection);
        for garbage in [
            &b""[..],
            b"three",
            b"-7",
            b"nan",
            b"-inf",
            b"\xff\x00\x80",
            b"1e",
            b"{}",
            b" 3 ",
            b"3.0",
            b"0x3",
            b"-0",
            b"1e1",
        ] {
            let () = connection.set(&key, garbage).unwrap();
            assert_eq!(admitted(&limiter, 10), 3, "{algorithm:?}: {garbage:?}");
            let left: i64 = connection.pttl(&key).unwrap();
            assert!(left > 0, "{algorithm:?}: {garbage:?} has no expiry: {left}");
        }
    }
    assert_eq!(store.metrics().all_failed(), 0);
}

#[test]
fn k16_a_number_that_is_too_large_keeps_calls_out_for_one_period_at_most() {
    const PERIOD: Duration = Duration::from_millis(300);
    let server = Server::start();
    let (store, mut connection) = (open(&server.url()), server.connect());
    for huge in ["9e15", "1e300", "inf", "99999999999999999999999"] {
        for algorithm in ALGORITHMS {
            let () = redis::cmd("FLUSHALL").query(&mut connection).unwrap();
            let limiter =
                limiter(&format!("{algorithm:?}{huge}"), limit(algorithm, 3, PERIOD), &store);
            let _ = limiter.try_acquire(1);
            // Without an expiry, as nobody of ours would write it.
            for key in keys(&mut connection) {
                let () = connection.set(&key, huge).unwrap();
            }
            if let Err(refused) = limiter.try_acquire(1) {
                assert!(refused.retry_after().unwrap() <= PERIOD, "{algorithm:?}: {huge}");
            }
            thread::sleep(PERIOD);
            assert!(limiter.try_acquire(1).is_ok(), "{algorithm:?}: {huge}");
        }
    }
}

#[test]
fn k16_another_type_under_a_key_is_the_trouble_of_that_key_alone() {
    let server = Server::start();
    let (store, mut connection) = (open_with(patient(&server.url())), server.connect());
    for algorithm in ALGORITHMS {
        let () = redis::cmd("FLUSHALL").query(&mut connection).unwrap();
        let before = store.metrics().failed(StoreFailure::WrongType);
        let sick = limiter(&format!("sick-{algorithm:?}"), limit(algorithm, 50, A_YEAR), &store);
        assert!(sick.try_acquire(1).is_ok());
        let key = only_key(&mut connection);
        let () = connection.del(&key).unwrap();
        let () = connection.lpush(&key, "one").unwrap();
        assert_eq!(admitted(&sick, 20), 0, "closed is what it was set to");
        assert_eq!(store.metrics().failed(StoreFailure::WrongType) - before, 20);

        let well = limiter(&format!("well-{algorithm:?}"), limit(algorithm, 3, A_YEAR), &store);
        assert_eq!(admitted(&well, 10), 3);
        assert_eq!(store.metrics().failed(StoreFailure::Guard), 0);
        let () = connection.del(&key).unwrap();
        assert!(sick.try_acquire(1).is_ok());
    }
}
