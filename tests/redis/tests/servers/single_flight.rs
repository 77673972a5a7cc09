//! Calls of one key that several processes would make at the same time: one makes it.

#![allow(clippy::unwrap_used)] // helpers of tests may unwrap as the tests themselves do

use std::{
    fmt::Debug,
    future::{Future, pending, poll_fn},
    pin::Pin,
    task::{Context, Poll, Waker},
    thread,
    time::{Duration, Instant},
};

use redis::Commands;
use resilience::{
    SingleFlight,
    rate_limiter::OnStoreFailure,
    single_flight::{FlightRefused, SingleFlightConfig},
    store::{Store, StoreConfig},
};
use resilience_redis_tests::{
    limits::{open, open_with},
    proxy::{Fault, Proxy},
    server::{Server, wait_until},
};
use tokio::sync::oneshot;

const KEY: &str = "test:sf:{submits/order-1}";
/// Longer than a test.
const LONG: Duration = Duration::from_hours(1);

/// A process: what it calls by the name `submits`.
fn process(store: &Store, expires: Duration) -> SingleFlight<u32> {
    let config = SingleFlightConfig::builder().expires_after(expires).build().unwrap();
    SingleFlight::with_store("submits", config, store)
}

/// Whether a call that is looked at once has not ended.
async fn goes_on(call: &mut Pin<Box<impl Future>>) -> bool {
    poll_fn(|cx| Poll::Ready(call.as_mut().poll(cx).is_pending())).await
}

/// A call that has the key and goes on for as long as it is kept.
async fn under_way(process: &SingleFlight<u32>, server: &Server) -> Pin<Box<impl Future>> {
    let mut call = Box::pin(process.try_call("order-1", pending()));
    let mut looks = server.connect();
    let before: Option<String> = looks.get(KEY).unwrap();
    let began = Instant::now();
    while looks.get::<_, Option<String>>(KEY).unwrap() == before {
        assert!(began.elapsed() < Duration::from_secs(20), "it never has the key");
        assert!(goes_on(&mut call).await);
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    // It is told of it, too.
    for _ in 0..20 {
        assert!(goes_on(&mut call).await);
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    call
}

fn refused<T: Debug>(answer: Result<T, FlightRefused>) -> FlightRefused {
    answer.expect_err("another process makes the call")
}

fn is_free(server: &Server) -> bool {
    let there: bool = server.connect().exists(KEY).unwrap();
    !there
}

#[tokio::test]
async fn while_one_process_makes_a_call_the_others_are_told() {
    let server = Server::start();
    let [one, other] = [(); 2].map(|()| process(&open(&server.url()), LONG));
    let call = under_way(&one, &server).await;
    for answer in
        [other.try_call("order-1", async { 2 }).await, other.call("order-1", async { 2 }).await]
    {
        let refused = refused(answer);
        assert!(refused.is_in_progress());
        assert!(refused.retry_after().is_some_and(|left| left <= LONG && left > LONG / 2));
    }
    assert_eq!(other.try_call("order-2", async { 2 }).await, Ok(2), "another key");

    drop(call);
    wait_until("a call that is dropped frees the key", || is_free(&server));
    assert_eq!(other.try_call("order-1", async { 2 }).await, Ok(2));
    wait_until("a call that is over frees the key", || is_free(&server));
    assert_eq!(one.call("order-1", async { 1 }).await, Ok(1));
}

/// Has calls of one process overlap, of which the first is told to end once the others wait.
async fn at_the_same_time(process: &SingleFlight<u32>, others: u32) {
    let (ends, end) = oneshot::channel();
    let mut first = Box::pin(process.call("order-1", async { end.await.unwrap() }));
    assert!(goes_on(&mut first).await);
    let mut others: Vec<_> = (1..=others)
        .map(|number| Box::pin(process.call("order-1", async move { number })))
        .collect();
    for other in &mut others {
        assert!(goes_on(other).await);
    }
    ends.send(0).unwrap();
    assert_eq!(first.await, Ok(0));
    for other in others {
        assert_eq!(other.await, Ok(0), "the result of the first");
    }
}

#[tokio::test]
async fn of_many_in_a_process_one_asks_the_store_and_all_have_its_result() {
    let server = Server::start();
    at_the_same_time(&process(&open(&server.url()), LONG), 99).await;
    assert_eq!(server.calls_of("set"), 1);
}

#[tokio::test]
async fn names_and_namespaces_tell_calls_apart() {
    let server = Server::start();
    let store = open(&server.url());
    let one = process(&store, LONG);
    let _call = under_way(&one, &server).await;
    let config = SingleFlightConfig::default;
    let other = SingleFlight::with_store("refunds", config(), &store);
    assert_eq!(other.try_call("order-1", async { 2 }).await, Ok(2));
    let elsewhere = StoreConfig::builder([server.url()], "elsewhere");
    let elsewhere = open_with(elsewhere.decision_timeout(Duration::from_secs(10)));
    let elsewhere = SingleFlight::with_store("submits", config(), &elsewhere);
    assert_eq!(elsewhere.try_call("order-1", async { 3 }).await, Ok(3));
}

/// The process of the first call is gone as in a crash: nothing that it sends arrives.
#[tokio::test]
async fn what_a_crashed_process_held_is_free_once_it_expires() {
    const EXPIRES: Duration = Duration::from_millis(1_500);
    let server = Server::start();
    let proxy = Proxy::start(server.port());
    let crashing = process(&open(&proxy.url()), EXPIRES);
    let other = process(&open(&server.url()), LONG);
    let began = Instant::now();
    let call = under_way(&crashing, &server).await;
    proxy.set(Fault::Cut);
    drop(call);
    if let Err(refused) = other.try_call("order-1", async { 2 }).await {
        let left = refused.retry_after().expect("the store knows");
        assert!(left <= EXPIRES, "{left:?}");
        tokio::time::sleep(left + Duration::from_millis(1)).await;
        assert_eq!(other.try_call("order-1", async { 2 }).await, Ok(2), "waited as told");
    }
    let took = began.elapsed();
    assert!(took + Duration::from_millis(1) >= EXPIRES, "{took:?}");
}

#[tokio::test]
async fn who_has_lost_a_key_to_another_does_not_free_it() {
    const EXPIRES: Duration = Duration::from_secs(1);
    let server = Server::start();
    let late = process(&open(&server.url()), EXPIRES);
    let late = under_way(&late, &server).await;
    wait_until("it expires", || is_free(&server));
    let owner = process(&open(&server.url()), LONG);
    let owner = under_way(&owner, &server).await;
    let token: String = server.connect().get(KEY).unwrap();
    let asked = server.calls_of("eval");
    drop(late);
    wait_until("it has let go", || server.calls_of("eval") > asked);
    assert_eq!(server.connect().get::<_, String>(KEY).unwrap(), token);
    drop(owner);
    wait_until("its owner frees it", || is_free(&server));
}

#[tokio::test]
async fn a_call_that_is_dropped_while_it_asks_for_the_key_frees_it() {
    let server = Server::start();
    let proxy = Proxy::start(server.port());
    let store = open(&proxy.url());
    let flights = process(&store, LONG);
    assert_eq!(flights.call("order-1", async { 1 }).await, Ok(1));
    wait_until("the first call frees it", || is_free(&server));
    proxy.set(Fault::Delay(Duration::from_millis(100)));
    let mut call = Box::pin(flights.call("order-1", async { 2 }));
    assert!(goes_on(&mut call).await);
    wait_until("it has the key", || !is_free(&server));
    drop(call);
    wait_until("the key is free", || is_free(&server));
}

#[tokio::test]
async fn without_the_store_a_process_tells_its_own_calls_apart_or_makes_none() {
    let mut server = Server::start();
    let store = open(&server.url());
    server.kill();
    let flights = |policy| {
        let config = SingleFlightConfig::builder().on_store_failure(policy).build().unwrap();
        SingleFlight::with_store("submits", config, &store)
    };
    for policy in [OnStoreFailure::Local, OnStoreFailure::Open] {
        at_the_same_time(&flights(policy), 2).await;
    }
    let closed = flights(OnStoreFailure::Closed);
    let refused = closed.call("order-1", async { 1 }).await.unwrap_err();
    assert!(!refused.is_in_progress());
    assert_eq!(refused.retry_after(), None);
}

/// Waits until nothing is left, also not of what was still on its way.
fn all_is_free(server: &Server) {
    thread::sleep(Duration::from_millis(300));
    wait_until("all keys are free", || server.keys().is_empty());
}

#[tokio::test]
async fn a_key_is_free_after_the_call_also_when_the_store_goes_away_with_it() {
    let server = Server::start();
    let store = open(&server.url());
    let flights = SingleFlight::with_store("submits", SingleFlightConfig::default(), &store);
    drop(store);
    let call = flights.try_call("order-1", async { server.keys() });
    assert_eq!(call.await.unwrap(), ["test:sf:{submits/order-1}"]);
    drop(flights);
    all_is_free(&server);
}

#[test]
fn a_call_that_is_dropped_while_it_takes_its_key_lets_go_of_it() {
    let server = Server::start();
    let store = open(&server.url());
    let flights = SingleFlight::with_store("submits", SingleFlightConfig::default(), &store);
    // A server that knows how to let go, and has to be sent how to take.
    let disown = include_str!("../../../../resilience/src/store/scripts/disown.lua");
    let () = redis::cmd("SCRIPT").arg("LOAD").arg(disown).query(&mut server.connect()).unwrap();
    let mut call = Box::pin(flights.try_call("order-1", pending::<()>()));
    assert!(call.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    drop(call);
    all_is_free(&server);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn who_has_had_a_result_and_calls_again_at_once_is_not_refused() {
    let server = Server::start();
    let flights = process(&open(&server.url()), LONG);
    let callers = [(); 8].map(|()| {
        let flights = flights.clone();
        tokio::spawn(async move {
            for _ in 0..100 {
                // No other process has a call under way.
                assert_eq!(flights.call("order-1", async { 7 }).await, Ok(7));
            }
        })
    });
    for caller in callers {
        caller.await.unwrap();
    }
}
