//! Breakers that a configuration makes global.

use resilience::{Config, Resilience, circuit_breaker::State, config::Format};

use resilience_redis_tests::server::Server;

use crate::nodes::wait_for;

const BREAKER: &str = "circuitbreaker.instances.pay: { scope: global, sync_interval: 50ms, \
                       minimum_number_of_calls: 10 }\n";

fn load(text: &str) -> Config {
    Config::builder().env(false).text(text, Format::Yaml).load().unwrap()
}

fn store(server: &Server) -> String {
    format!("redis: {{ url: '{}', namespace: shop, decision_timeout: 1s }}\n", server.url())
}

/// Has the breakers open by failures that are too few for each of them alone.
fn open(registries: &[Resilience]) {
    let breakers: Vec<_> =
        registries.iter().map(|registry| registry.circuit_breaker("pay")).collect();
    wait_for("they hear of the store", || breakers.iter().all(|one| one.metrics().shared));
    for breaker in &breakers {
        (0..9).for_each(|_| breaker.try_acquire().unwrap().failure());
    }
    wait_for("all open", || breakers.iter().all(|one| one.state() == State::Open));
}

#[test]
fn declared_breakers_share_their_state() {
    let server = Server::start();
    let text = store(&server) + BREAKER;
    open(&[(); 2].map(|()| Resilience::from_config(load(&text)).unwrap()));
}

#[test]
fn a_store_that_comes_with_a_reload_comes_for_breakers_that_are_there() {
    let server = Server::start();
    let local = BREAKER.replace("scope: global, ", "");
    let registries = [(); 2].map(|()| Resilience::from_config(load(&local)).unwrap());
    for registry in &registries {
        assert!(!registry.circuit_breaker("pay").metrics().shared);
        registry.reload(load(&(store(&server) + BREAKER))).unwrap();
    }
    open(&registries);
}

#[test]
fn a_global_breaker_without_a_store_is_an_error_at_start() {
    let error = Config::builder().env(false).text(BREAKER, Format::Yaml).load();
    let error = error
        .map(Resilience::from_config)
        .map_or_else(|error| error.to_string(), |made| made.map(|_| ()).unwrap_err().to_string());
    assert!(error.contains("`redis`"), "{error}");
}
