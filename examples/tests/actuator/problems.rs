use axum::{Router, body::Body, http::Request};
use reqwest::{Response, StatusCode};
use resilience::actuator::Actuator;
use serde_json::{Value, json};
use tower::ServiceExt;

use crate::support::{ONE_OF_EACH, TOKEN, registry, serve};

/// Checks how a refusal is told, and returns its message.
async fn message(response: Response, status: StatusCode) -> String {
    assert_eq!(response.status(), status, "{}", response.url());
    let headers = response.headers();
    assert_eq!(headers["content-type"], "application/json", "{}", response.url());
    assert_eq!(headers["x-content-type-options"], "nosniff", "{}", response.url());
    assert_eq!(headers["cache-control"], "no-store", "{}", response.url());
    let mut problem: Value = response.json().await.unwrap();
    let message = problem["message"].take();
    let error = status.canonical_reason();
    assert_eq!(problem, json!({ "status": status.as_u16(), "error": error, "message": null }));
    message.as_str().unwrap().to_owned()
}

#[tokio::test]
async fn whatever_cannot_be_read_is_told_in_one_shape() {
    let served = serve(ONE_OF_EACH).await;
    for (path, status, told) in [
        ("/retryevents?limit=abc", StatusCode::BAD_REQUEST, "from 0 to 10000"),
        ("/retryevents?limit=-1", StatusCode::BAD_REQUEST, "from 0 to 10000"),
        ("/retryevents?limit=1&limit=2", StatusCode::BAD_REQUEST, "one `limit`"),
        ("/retryevents/%ff", StatusCode::BAD_REQUEST, "UTF-8"),
        ("/streamretryevents/%ff", StatusCode::BAD_REQUEST, "UTF-8"),
        ("/no/such/path", StatusCode::NOT_FOUND, "/actuator"),
        ("/%ff", StatusCode::NOT_FOUND, "/actuator"),
        ("/../elsewhere", StatusCode::NOT_FOUND, "/actuator"),
    ] {
        let response = served.get(path).send().await.unwrap();
        let message = message(response, status).await;
        assert!(message.contains(told), "{path}: {message}");
    }
}

#[tokio::test]
async fn a_request_that_is_refused_before_its_path_is_looked_at_is_told_in_the_same_shape() {
    let served = serve(ONE_OF_EACH).await;
    let response = served.get("").header("host", "evil.example").send().await.unwrap();
    assert!(message(response, StatusCode::MISDIRECTED_REQUEST).await.contains("localhost"));

    let change = served.post("/circuitbreakers/payment").bearer_auth(TOKEN);
    let response = change.body("x".repeat(5_000)).send().await.unwrap();
    assert!(message(response, StatusCode::PAYLOAD_TOO_LARGE).await.contains("limit"));
}

#[tokio::test]
async fn a_method_that_a_path_does_not_know_is_not_a_matter_of_the_token() {
    let served = serve(ONE_OF_EACH).await;
    let response = served.get("/circuitbreakers/payment").send().await.unwrap();
    assert_eq!(response.headers()["allow"], "POST");
    message(response, StatusCode::METHOD_NOT_ALLOWED).await;
    for path in ["", "/health"] {
        let response = served.post(path).send().await.unwrap();
        message(response, StatusCode::METHOD_NOT_ALLOWED).await;
    }
}

#[tokio::test]
async fn in_a_programs_own_router_what_is_not_the_actuators_stays_the_programs() {
    let actuator = Actuator::new(&registry(""));
    let router = Router::new().merge(actuator.router()).fallback(async || "the program's");
    for (path, is_the_actuators) in [("/actuator/no/such/path", true), ("/elsewhere", false)] {
        let request = Request::get(path).body(Body::empty()).unwrap();
        let response = router.clone().oneshot(request).await.unwrap();
        let body = axum::body::to_bytes(response.into_body(), 1_000).await.unwrap();
        let told = String::from_utf8(body.to_vec()).unwrap();
        assert_eq!(told.contains("there is nothing here"), is_the_actuators, "{path}: {told}");
        assert_eq!(told == "the program's", !is_the_actuators, "{path}: {told}");
    }
}
