use std::time::Duration;

use reqwest::StatusCode;
use resilience::circuit_breaker::State;
use serde_json::{Value, json};

use crate::support::{Served, serve, serve_as};

/// The events of a list, without the times, which are checked to be some.
async fn events(served: &Served, path: &str, list: &str) -> Vec<Value> {
    let mut listed = served.json(path).await;
    let events = listed[list].as_array_mut().unwrap();
    for event in events.iter_mut() {
        let time = event.as_object_mut().unwrap().remove("creationTime").unwrap();
        let time = time.as_str().unwrap();
        assert!(time.starts_with("20") && time.contains('T') && time.ends_with('Z'), "{time}");
    }
    std::mem::take(events)
}

#[tokio::test]
async fn events_of_breakers_have_resilience4js_shape() {
    let served = serve("circuitbreaker.instances.payment: {}").await;
    let breaker = served.registry.circuit_breaker("payment");
    breaker.on_error(Duration::from_millis(12), &["io", "connect"]);
    breaker.transition_to(State::Open).unwrap();
    assert_eq!(
        events(&served, "/circuitbreakerevents", "circuitBreakerEvents").await,
        [
            json!({
                "circuitBreakerName": "payment",
                "type": "ERROR",
                "errorMessage": "io, connect",
                "durationInMs": 12,
                "stateTransition": null,
            }),
            json!({
                "circuitBreakerName": "payment",
                "type": "STATE_TRANSITION",
                "errorMessage": null,
                "durationInMs": null,
                "stateTransition": "CLOSED_TO_OPEN",
            }),
        ]
    );
}

#[tokio::test]
async fn events_of_the_other_patterns_have_resilience4js_shape() {
    let served = serve("retry.instances.payment: { max_attempts: 2, wait_duration: 0ms }").await;
    let registry = &served.registry;
    let failing = async || Err::<(), _>("no answer");
    registry.retry("payment").call(failing).await.unwrap_err();
    registry.time_limiter("payment").call(async { Ok::<_, &str>(()) }).await.unwrap();
    registry.rate_limiter("payment").try_acquire(1).unwrap();
    drop(registry.bulkhead("payment").try_acquire().unwrap());
    let job = registry.thread_pool_bulkhead("payment").call(|| Ok::<_, &str>(())).await;
    job.unwrap();

    let retries = events(&served, "/retryevents", "retryEvents").await;
    assert_eq!(
        retries[0],
        json!({ "retryName": "payment", "type": "RETRY", "errorMessage": "error", "numberOfAttempts": 1 })
    );
    assert_eq!(retries[1]["type"], "ERROR");
    assert_eq!(retries[1]["numberOfAttempts"], 2);
    assert_eq!(
        events(&served, "/timelimiterevents", "timeLimiterEvents").await,
        [json!({ "timeLimiterName": "payment", "type": "SUCCESS" })]
    );
    assert_eq!(
        events(&served, "/ratelimiterevents", "rateLimiterEvents").await,
        [json!({ "rateLimiterName": "payment", "type": "SUCCESSFUL_ACQUIRE" })]
    );
    let bulkheads = events(&served, "/bulkheadevents", "bulkheadEvents").await;
    assert_eq!(bulkheads[0], json!({ "bulkheadName": "payment", "type": "CALL_PERMITTED" }));
    let pool = "/bulkheadevents/ThreadPoolBulkhead-payment/call_permitted";
    assert_eq!(
        events(&served, pool, "bulkheadEvents").await,
        [json!({ "bulkheadName": "ThreadPoolBulkhead-payment", "type": "CALL_PERMITTED" })]
    );
}

#[tokio::test]
async fn events_of_all_instances_are_in_the_order_in_which_they_happened() {
    let served = serve("").await;
    for name in ["b", "a", "c", "a"] {
        drop(served.registry.bulkhead(name).try_acquire().unwrap());
    }
    let path = "/bulkheadevents";
    let events = served.json(path).await;
    let events = events["bulkheadEvents"].as_array().unwrap();
    let times: Vec<_> =
        events.iter().map(|event| event["creationTime"].as_str().unwrap()).collect();
    assert!(times.is_sorted(), "{times:?}");
    assert_eq!(events.len(), 8);
}

#[tokio::test]
async fn a_path_asks_for_one_instance_and_one_type_in_any_case() {
    let served = serve("").await;
    for name in ["a", "b"] {
        drop(served.registry.bulkhead(name).try_acquire().unwrap());
    }
    let count = async |path: &str| events(&served, path, "bulkheadEvents").await.len();
    assert_eq!(count("/bulkheadevents").await, 4);
    assert_eq!(count("/bulkheadevents/a").await, 2);
    assert_eq!(count("/bulkheadevents/a/CALL_FINISHED").await, 1);
    assert_eq!(count("/bulkheadevents/a/call_finished").await, 1);
    assert_eq!(count("/bulkheadevents/a/CALL_REJECTED").await, 0);
    assert_eq!(count("/bulkheadevents/unknown").await, 0);
    assert!(served.registry.find_bulkhead("unknown").is_none());
}

#[tokio::test]
async fn an_unknown_type_is_told_which_there_are_and_a_long_name_that_it_is_too_long() {
    let served = serve("").await;
    for stream in ["", "stream"] {
        let path = format!("/{stream}retryevents/payment/SUCESS");
        let response = served.get(&path).send().await.unwrap();
        assert_eq!(response.status(), StatusCode::BAD_REQUEST);
        let problem: Value = response.json().await.unwrap();
        let message = problem["message"].as_str().unwrap();
        assert!(message.ends_with("one of RETRY, ERROR, SUCCESS, IGNORED_ERROR"), "{message}");
        let path = format!("/{stream}retryevents/{}", "ü".repeat(220));
        assert_eq!(served.status(&path).await, StatusCode::BAD_REQUEST);
    }
}

#[tokio::test]
async fn the_longest_name_can_be_asked_for_as_it_is_shown() {
    let served = serve("").await;
    let name = "ü".repeat(200);
    let pool = served.registry.thread_pool_bulkhead(&name);
    pool.call(|| Ok::<_, &str>(())).await.unwrap();
    let shown = format!("ThreadPoolBulkhead-{name}");
    assert_eq!(served.json("/bulkheads").await["bulkheads"], json!([shown]));
    let path = format!("/bulkheadevents/{shown}/CALL_FINISHED");
    assert_eq!(events(&served, &path, "bulkheadEvents").await.len(), 1);
}

#[tokio::test]
async fn a_limit_leaves_the_newest() {
    let served = serve("").await;
    drop(served.registry.bulkhead("a").try_acquire().unwrap());
    let newest = events(&served, "/bulkheadevents?limit=1", "bulkheadEvents").await;
    assert_eq!(newest, [json!({ "bulkheadName": "a", "type": "CALL_FINISHED" })]);
    assert!(events(&served, "/bulkheadevents?limit=0", "bulkheadEvents").await.is_empty());
}

#[tokio::test]
async fn no_more_than_ten_thousand_events_are_sent() {
    let served = serve("bulkhead.instances.a: { event_consumer_buffer_size: 20000 }").await;
    for _ in 0..6_000 {
        drop(served.registry.bulkhead("a").try_acquire().unwrap());
    }
    let count = async |path: &str| events(&served, path, "bulkheadEvents").await.len();
    assert_eq!(count("/bulkheadevents").await, 1_000);
    assert_eq!(count("/bulkheadevents?limit=1000000").await, 10_000);
}

#[tokio::test]
async fn what_comes_with_every_call_can_be_left_out() {
    let served = serve_as("", |actuator| actuator.capture_events(false)).await;
    let breaker = served.registry.circuit_breaker("payment");
    breaker.on_success(Duration::ZERO);
    breaker.reset();
    let kept = events(&served, "/circuitbreakerevents", "circuitBreakerEvents").await;
    assert_eq!(kept.len(), 1);
    assert_eq!(kept[0]["type"], "RESET");
}

#[tokio::test]
async fn the_key_of_an_instance_is_not_told() {
    let served = serve("").await;
    drop(served.registry.bulkhead("shard").keyed("user-4711").try_acquire().unwrap());
    let text = served.get("/bulkheadevents").send().await.unwrap().text().await.unwrap();
    assert!(text.contains("shard") && !text.contains("4711"), "{text}");
}
