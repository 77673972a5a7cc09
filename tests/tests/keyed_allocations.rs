//! A look-up by key that finds its instance allocates nothing. A binary of its own: the allocator
//! counts for all of it, by thread.

use std::{
    future::Future,
    pin::pin,
    task::{Context, Poll, Waker},
};

use resilience::{
    CircuitBreaker, CircuitBreakerConfig, Config, Error, Resilience, bulkhead, circuit_breaker,
    circuit_breaker::State, config::Format, rate_limiter, retry, time_limiter,
};
use resilience_tests::allocations::{Counting, allocations};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn a_look_up_that_finds_its_instance_allocates_nothing() {
    let shards = CircuitBreaker::new("shard", CircuitBreakerConfig::default());
    let long = "k".repeat(10_000);
    for key in ["eu-1", &long] {
        drop(shards.keyed(key));
        assert_eq!(allocations(|| drop(shards.keyed(key))), 0, "{} bytes", key.len());
    }
    drop(shards.keyed(&7));
    assert_eq!(allocations(|| drop(shards.keyed(&7))), 0);
    assert_eq!(allocations(|| drop(shards.keyed(&format_args!("{}-{}", "eu", 1)))), 0);
}

#[test]
fn a_look_up_by_name_and_key_that_finds_both_allocates_nothing() {
    let text = "circuitbreaker.instances.shard: {}";
    let registry = Resilience::from_config(Config::from_str(text, Format::Yaml).unwrap()).unwrap();
    for name in ["shard", "Shard", "undeclared"] {
        let look_up = || drop(registry.circuit_breaker(name).keyed("eu-1"));
        look_up();
        look_up(); // a spelling is kept when it is met again
        assert_eq!(allocations(look_up), 0, "{name}");
    }
    // What was found by a spelling before is found by what is in force, and made anew once removed.
    let before = registry.circuit_breaker("Shard");
    registry.reload(Config::default()).unwrap();
    before.transition_to(State::ForcedOpen).unwrap();
    assert_eq!(registry.circuit_breaker("Shard").state(), State::ForcedOpen);
    assert!(registry.remove("shard"));
    assert_eq!(registry.circuit_breaker("Shard").state(), State::Closed);
}

#[retry(name = "allocates", key = key)]
#[circuit_breaker(name = "allocates", key = key)]
#[rate_limiter(name = "allocates", key = key)]
#[time_limiter(name = "allocates", key = key)]
#[bulkhead(name = "allocates", key = key)]
async fn call(key: &str) -> Result<usize, Error> {
    Ok(key.len())
}

#[test]
fn a_call_with_a_key_for_every_layer_allocates_nothing() {
    let once = || {
        let outcome = pin!(call("eu-1")).poll(&mut Context::from_waker(Waker::noop()));
        assert!(matches!(outcome, Poll::Ready(Ok(4))));
    };
    once();
    assert_eq!(allocations(once), 0);
}
