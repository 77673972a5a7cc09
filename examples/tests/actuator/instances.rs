use std::time::Duration;

use resilience::circuit_breaker::State;
use serde_json::{Value, json};

use crate::support::{ONE_OF_EACH, Served, Stream, serve, serve_as};

#[tokio::test]
async fn everything_the_page_shows_is_there() {
    let served = serve(ONE_OF_EACH).await;
    let mut shown = served.json("/instances").await;
    assert_eq!(shown["application"], *served.registry.application());
    assert!(shown["time"].as_str().unwrap().ends_with('Z'));
    let since = shown["circuitBreakers"][0]["since"].take();
    assert!(since.as_str().unwrap().ends_with('Z'), "{since}");
    assert_eq!(shown["writable"], true);
    let patterns = [
        (
            "circuitBreakers",
            json!({
                "name": "payment", "state": "CLOSED", "enabled": true,
                "failureRate": -1.0, "slowCallRate": -1.0,
                "failureRateThreshold": 50.0, "slowCallRateThreshold": 100.0,
                "bufferedCalls": 0, "maxBufferedCalls": 4, "minimumNumberOfCalls": 4,
                "failedCalls": 0, "slowCalls": 0, "slowFailedCalls": 0, "notPermittedCalls": 0,
                "windowType": "COUNT_BASED", "permittedCallsInHalfOpen": 10,
                "since": null, "openUntil": null, "shared": false,
                "totals": {
                    "successful": 0, "failed": 0, "ignored": 0, "notPermitted": 0, "cancelled": 0,
                    "transitions": 0,
                },
            }),
        ),
        (
            "retries",
            json!({
                "name": "payment", "enabled": true, "maxAttempts": 4,
                "successfulWithoutRetry": 0, "successfulWithRetry": 0,
                "failedWithoutRetry": 0, "failedWithRetry": 0, "totalCalls": 0,
            }),
        ),
        (
            "rateLimiters",
            json!({
                "name": "payment", "enabled": true, "scope": "local", "availablePermissions": 7,
                "limitForPeriod": 7, "limitRefreshPeriodMs": 1000.0, "waiting": 0,
                "permitted": 0, "refused": 0,
            }),
        ),
        (
            "timeLimiters",
            json!({
                "name": "payment", "enabled": true, "timeoutMs": 3000.0,
                "successful": 0, "failed": 0, "timeout": 0,
            }),
        ),
        (
            "bulkheads",
            json!({
                "name": "payment", "enabled": true, "availableConcurrentCalls": 5,
                "maxConcurrentCalls": 5, "waiting": 0, "permitted": 0, "rejected": 0,
            }),
        ),
        (
            "threadPoolBulkheads",
            json!({
                "name": "payment", "enabled": true, "threadPoolSize": 0, "maxThreadPoolSize": 2,
                "queueDepth": 0, "queueCapacity": 3, "activeThreads": 0, "permitted": 0,
                "rejected": 0,
            }),
        ),
    ];
    for (list, instance) in patterns {
        assert_eq!(shown[list], json!([instance]), "{list}");
    }
}

#[tokio::test]
async fn without_a_token_the_page_is_told_that_nothing_can_be_changed() {
    let served = serve_as("", |actuator| actuator).await;
    assert_eq!(served.json("/instances").await["writable"], false);
}

#[tokio::test]
async fn an_open_breaker_tells_until_when() {
    let served = serve(ONE_OF_EACH).await;
    served.registry.circuit_breaker("payment").transition_to(State::Open).unwrap();
    let shown = served.json("/instances").await;
    let breaker = &shown["circuitBreakers"][0];
    let (since, until) =
        (breaker["since"].as_str().unwrap(), breaker["openUntil"].as_str().unwrap());
    assert!(since < until, "{since} {until}");
    served.registry.circuit_breaker("payment").reset();
    assert_eq!(served.json("/instances").await["circuitBreakers"][0]["openUntil"], Value::Null);
}

async fn open(served: &Served) -> Stream {
    let mut stream = served.stream("/stream").await;
    assert_eq!(stream.next().await.unwrap().name, "snapshot");
    stream
}

#[tokio::test]
async fn a_stream_begins_with_everything() {
    let served = serve(ONE_OF_EACH).await;
    let mut stream = served.stream("/stream").await;
    let mut snapshot = stream.next().await.unwrap();
    let mut shown = served.json("/instances").await;
    snapshot.data["time"].take();
    shown["time"].take();
    assert_eq!((snapshot.name.as_str(), snapshot.data), ("snapshot", shown));
}

#[tokio::test]
async fn only_what_has_changed_is_sent() {
    let served = serve(ONE_OF_EACH).await;
    served.registry.bulkhead("calm");
    let mut stream = open(&served).await;
    drop(served.registry.bulkhead("payment").try_acquire().unwrap());
    served.registry.retry("new");
    let update = stream.next().await.unwrap();
    assert_eq!(update.name, "update");
    let names = |list: &str| -> Vec<&str> {
        let list = update.data[list].as_array().unwrap();
        list.iter().map(|each| each["name"].as_str().unwrap()).collect()
    };
    assert_eq!(names("bulkheads"), ["payment"]);
    assert_eq!(names("retries"), ["new"]);
    assert!(names("circuitBreakers").is_empty());
    served.registry.remove("calm");
    let update = stream.next().await.unwrap();
    assert_eq!(update.data["removed"]["bulkheads"], json!(["calm"]));
}

#[tokio::test]
async fn a_stream_begins_with_the_last_transitions_and_calls_pay_nothing_for_them() {
    let served = serve(ONE_OF_EACH).await;
    let breaker = served.registry.circuit_breaker("payment");
    for _ in 0..150 {
        breaker.transition_to(State::Open).unwrap();
        breaker.transition_to(State::Closed).unwrap();
    }
    breaker.transition_to(State::Disabled).unwrap();
    let mut stream = served.stream("/stream").await;
    let snapshot = stream.next().await.unwrap();
    assert_eq!(snapshot.data["transitions"], served.json("/instances").await["transitions"]);
    let transitions = snapshot.data["transitions"].as_array().unwrap();
    let to: Vec<_> = transitions.iter().map(|each| each["to"].as_str().unwrap()).collect();
    assert_eq!(to.len(), 200);
    assert_eq!(to[197..], ["OPEN", "CLOSED", "DISABLED"]);
}

#[tokio::test]
async fn a_transition_is_sent_at_once() {
    let served = serve(ONE_OF_EACH).await;
    let mut stream = open(&served).await;
    let breaker = served.registry.circuit_breaker("payment");
    for _ in 0..4 {
        breaker.on_error(Duration::ZERO, &[]);
    }
    let mut sent = stream.next().await.unwrap();
    let at = sent.data["at"].take();
    assert!(at.as_str().unwrap().ends_with('Z'), "{at}");
    assert_eq!(sent.name, "transition");
    assert_eq!(
        sent.data,
        json!({
            "name": "payment", "keyed": false, "from": "CLOSED", "to": "OPEN", "at": null,
            "failureRate": 100.0, "slowCallRate": 0.0,
        })
    );
    assert_eq!(stream.next().await.unwrap().data["circuitBreakers"][0]["state"], "OPEN");
}

#[tokio::test]
async fn a_transition_of_a_key_is_told_as_such_without_the_key() {
    let served = serve(ONE_OF_EACH).await;
    let mut stream = open(&served).await;
    let keyed = served.registry.circuit_breaker("payment").keyed("user-4711");
    keyed.transition_to(State::Open).unwrap();
    let sent = stream.next().await.unwrap();
    assert_eq!(sent.name, "transition");
    assert_eq!((&sent.data["name"], &sent.data["keyed"]), (&json!("payment"), &json!(true)));
    assert!(!sent.data.to_string().contains("4711"), "{}", sent.data);
}

#[tokio::test]
async fn all_who_watch_are_told_the_same() {
    let served = serve(ONE_OF_EACH).await;
    let (mut one, mut other) = (open(&served).await, open(&served).await);
    drop(served.registry.bulkhead("payment").try_acquire().unwrap());
    let (one, other) = (one.next().await.unwrap(), other.next().await.unwrap());
    assert_eq!(one.data["bulkheads"], other.data["bulkheads"]);
    // Nobody else listens than the actuator itself.
    let breaker = served.registry.circuit_breaker("payment");
    assert_eq!(breaker.events().subscribers(), 1);
}

#[tokio::test]
async fn five_hundred_instances_are_shown_and_followed() {
    let served = serve("").await;
    for n in 0..500 {
        served.registry.circuit_breaker(&format!("breaker-{n:03}"));
    }
    let mut stream = served.stream("/stream").await;
    let snapshot = stream.next().await.unwrap();
    assert_eq!(snapshot.data["circuitBreakers"].as_array().unwrap().len(), 500);
    served.registry.circuit_breaker("breaker-250").on_success(Duration::ZERO);
    let update = stream.next().await.unwrap();
    let changed = update.data["circuitBreakers"].as_array().unwrap();
    assert_eq!(changed.len(), 1);
    assert_eq!(changed[0]["name"], "breaker-250");
}
