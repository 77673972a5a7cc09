//! Keys that a single flight takes and lets go of.

use std::{
    future::{Future, pending},
    task::{Context, Waker},
    thread,
    time::Duration,
};

use redis::Commands;
use resilience::{SingleFlight, single_flight::SingleFlightConfig};
use resilience_redis_tests::{limits::open, server::Server};

/// As many as there are after what is on its way has come.
fn keys(server: &Server) -> Vec<String> {
    thread::sleep(Duration::from_millis(300));
    server.connect().keys("*").expect("a server that is up")
}

#[tokio::test]
async fn a_key_is_free_after_the_call_also_when_the_store_goes_away_with_it() {
    let server = Server::start();
    let store = open(&server.url());
    let flights = SingleFlight::with_store("submits", SingleFlightConfig::default(), &store);
    drop(store);
    let call = flights.try_call("order-1", async { keys(&server) });
    assert_eq!(call.await.unwrap(), ["test:sf:{submits/order-1}"]);
    drop(flights);
    assert_eq!(keys(&server), [""; 0]);
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
    assert_eq!(keys(&server), [""; 0]);
}
