use std::time::Duration;

use reqwest::StatusCode;
use resilience::{Resilience, circuit_breaker::State};
use serde_json::json;

use crate::support::{eventually, serve};

#[tokio::test]
async fn events_are_sent_in_the_shape_of_the_lists() {
    let served = serve("").await;
    let breaker = served.registry.circuit_breaker("payment");
    let mut stream = served.stream("/streamcircuitbreakerevents").await;
    breaker.on_success(Duration::from_millis(3));
    let sent = stream.next().await.unwrap();
    let listed = served.json("/circuitbreakerevents").await;
    assert_eq!(sent.data, listed["circuitBreakerEvents"][0]);
    assert_eq!(sent.name, "");
}

#[tokio::test]
async fn a_stream_can_be_of_one_instance_and_one_type() {
    let served = serve("").await;
    let mut stream = served.stream("/streambulkheadevents/b/call_finished").await;
    for name in ["a", "b"] {
        drop(served.registry.bulkhead(name).try_acquire().unwrap());
    }
    let sent = stream.next().await.unwrap().data;
    assert_eq!((&sent["bulkheadName"], &sent["type"]), (&json!("b"), &json!("CALL_FINISHED")));
    assert_eq!(served.registry.bulkhead("a").events().subscribers(), 0);
}

#[tokio::test]
async fn instances_that_are_made_later_are_heard_too() {
    let served = serve("").await;
    let mut stream = served.stream("/streamcircuitbreakerevents").await;
    for _ in 0..2 {
        served.registry.circuit_breaker("late").reset();
        assert_eq!(stream.next().await.unwrap().data["circuitBreakerName"], "late");
        served.registry.remove("late");
    }
}

#[tokio::test]
async fn thread_pools_are_heard_with_the_bulkheads() {
    let served = serve("").await;
    let mut stream = served.stream("/streambulkheadevents").await;
    let pool = served.registry.thread_pool_bulkhead("jobs");
    pool.call(|| Ok::<_, &str>(())).await.unwrap();
    assert_eq!(stream.next().await.unwrap().data["bulkheadName"], "ThreadPoolBulkhead-jobs");
}

#[tokio::test]
async fn a_slow_reader_of_many_events_loses_the_oldest_and_is_told_how_many() {
    const EVENTS: u64 = 100_000;

    let served = serve("").await;
    let bulkhead = served.registry.bulkhead("busy");
    let mut stream = served.stream("/streambulkheadevents").await;
    // Nothing is sent before this test waits for something: there is one thread.
    for _ in 0..EVENTS / 2 {
        drop(bulkhead.try_acquire().unwrap());
    }
    let first = stream.next().await.unwrap();
    assert_eq!(first.name, "lost");
    let lost = first.data["lost"].as_u64().unwrap();
    let kept = EVENTS - lost;
    assert_eq!(kept, 1024);
    for _ in 0..kept {
        assert_eq!(stream.next().await.unwrap().data["bulkheadName"], "busy");
    }
    drop(bulkhead.try_acquire().unwrap());
    assert_eq!(stream.next().await.unwrap().data["type"], "CALL_PERMITTED");
}

#[tokio::test]
async fn a_reader_that_goes_away_is_forgotten() {
    let served = serve("").await;
    let breaker = served.registry.circuit_breaker("payment");
    let listeners =
        |registry: &Resilience| (breaker.events().subscribers(), registry.events().subscribers());
    let before = listeners(&served.registry);
    let stream = served.stream("/streamcircuitbreakerevents").await;
    assert_ne!(listeners(&served.registry), before);
    drop(stream);
    eventually("the listener goes", || {
        breaker.reset();
        listeners(&served.registry) == before
    })
    .await;
}

#[tokio::test]
async fn there_are_64_streams_at_most() {
    let served = serve("").await;
    let mut streams = Vec::new();
    for _ in 0..64 {
        streams.push(served.stream("/streamretryevents").await);
    }
    for path in ["/streamretryevents", "/stream"] {
        assert_eq!(served.status(path).await, StatusCode::SERVICE_UNAVAILABLE);
    }
    assert_eq!(served.status("/health").await, StatusCode::OK);
    drop(streams);
    let retry = served.registry.retry("payment");
    eventually("the streams end", || retry.events().subscribers() == 0).await;
    drop(served.stream("/streamretryevents").await);
}

#[tokio::test]
async fn a_listener_of_a_breaker_that_streams_sees_every_transition() {
    let served = serve("").await;
    let breaker = served.registry.circuit_breaker("payment");
    let mut stream = served.stream("/streamcircuitbreakerevents/payment/STATE_TRANSITION").await;
    for state in [State::Open, State::HalfOpen, State::Closed] {
        breaker.transition_to(state).unwrap();
        breaker.on_success(Duration::ZERO);
    }
    for transition in ["CLOSED_TO_OPEN", "OPEN_TO_HALF_OPEN", "HALF_OPEN_TO_CLOSED"] {
        assert_eq!(stream.next().await.unwrap().data["stateTransition"], transition);
    }
}
