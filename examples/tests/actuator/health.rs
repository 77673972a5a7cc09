use reqwest::StatusCode;
use resilience::circuit_breaker::State;
use serde_json::{Value, json};

use crate::support::{Served, serve};

const REGISTERED: &str = "
    circuitbreaker.instances:
      payment: { register_health_indicator: true, allow_health_indicator_to_fail: true }
      search: { register_health_indicator: true }
      hidden: { allow_health_indicator_to_fail: true }
    ratelimiter.instances.api: { register_health_indicator: true, limit_for_period: 9, limit_refresh_period: 1h }";

async fn ask(served: &Served, path: &str) -> (StatusCode, Value) {
    let response = served.get(path).send().await.unwrap();
    (response.status(), response.json().await.unwrap())
}

#[tokio::test]
async fn health_has_spring_boots_shape_and_resilience4js_details() {
    let served = serve(REGISTERED).await;
    let (status, health) = ask(&served, "/health").await;
    assert_eq!(status, StatusCode::OK);
    let breaker = json!({
        "status": "UP",
        "details": {
            "failureRate": "-1.0%",
            "failureRateThreshold": "50.0%",
            "slowCallRate": "-1.0%",
            "slowCallRateThreshold": "100.0%",
            "bufferedCalls": 0,
            "slowCalls": 0,
            "slowFailedCalls": 0,
            "failedCalls": 0,
            "notPermittedCalls": 0,
            "state": "CLOSED",
        },
    });
    assert_eq!(
        health,
        json!({
            "status": "UP",
            "components": {
                "circuitBreakers": {
                    "status": "UP",
                    "details": { "payment": breaker, "search": breaker },
                },
                "rateLimiters": {
                    "status": "UP",
                    "details": {
                        "api": {
                            "status": "UP",
                            "details": { "availablePermissions": 9, "numberOfWaitingThreads": 0 },
                        },
                    },
                },
                "ping": { "status": "UP" },
            },
        })
    );
}

#[tokio::test]
async fn an_open_breaker_turns_readiness_red_only_where_it_may_and_liveness_never() {
    let served = serve(REGISTERED).await;
    let open = |name: &str| served.registry.circuit_breaker(name).transition_to(State::Open);
    let up = (StatusCode::OK, json!({ "status": "UP" }));

    open("search").unwrap();
    open("hidden").unwrap();
    let (status, health) = ask(&served, "/health").await;
    assert_eq!((status, &health["status"]), (StatusCode::OK, &json!("UP")));
    let breakers = &health["components"]["circuitBreakers"];
    assert_eq!(breakers["details"]["search"]["status"], "CIRCUIT_OPEN");
    assert_eq!(breakers["details"]["hidden"], Value::Null);
    assert_eq!(ask(&served, "/health/readiness").await, up);

    open("payment").unwrap();
    let (status, health) = ask(&served, "/health").await;
    assert_eq!((status, &health["status"]), (StatusCode::SERVICE_UNAVAILABLE, &json!("DOWN")));
    let down = (StatusCode::SERVICE_UNAVAILABLE, json!({ "status": "DOWN" }));
    assert_eq!(ask(&served, "/health/readiness").await, down);
    assert_eq!(ask(&served, "/health/liveness").await, up);
}

#[tokio::test]
async fn a_process_that_registers_nothing_is_up() {
    let served = serve("").await;
    let (status, health) = ask(&served, "/health").await;
    assert_eq!((status, &health["status"]), (StatusCode::OK, &json!("UP")));
    assert_eq!(
        health["components"]["circuitBreakers"],
        json!({ "status": "UNKNOWN", "details": {} })
    );
}
