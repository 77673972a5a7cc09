use reqwest::{Response, StatusCode};
use resilience::circuit_breaker::State;
use serde_json::{Value, json};

use crate::support::{Served, TOKEN, serve, serve_as};

const BREAKER: &str = "circuitbreaker.instances.payment: {}";

async fn change(served: &Served, name: &str, body: impl Into<String>) -> Response {
    let request = served.post(&format!("/circuitbreakers/{name}")).bearer_auth(TOKEN);
    request.body(body.into()).send().await.unwrap()
}

fn to(state: &str) -> String {
    json!({ "updateState": state }).to_string()
}

#[tokio::test]
async fn who_has_the_token_changes_the_state() {
    let served = serve(BREAKER).await;
    for (wanted, state) in [
        ("FORCE_OPEN", State::ForcedOpen),
        ("DISABLE", State::Disabled),
        ("METRICS_ONLY", State::MetricsOnly),
        ("CLOSE", State::Closed),
        ("FORCE_OPEN", State::ForcedOpen),
        ("RESET", State::Closed),
    ] {
        let response = change(&served, "payment", to(wanted)).await;
        assert_eq!(response.status(), StatusCode::OK, "{wanted}");
        assert_eq!(
            response.json::<Value>().await.unwrap(),
            json!({
                "circuitBreakerName": "payment",
                "currentState": state.as_str(),
                "message": "payment state has been changed successfully",
            })
        );
        assert_eq!(served.registry.circuit_breaker("payment").state(), state);
    }
}

#[tokio::test]
async fn a_change_is_one_of_all_keys_that_are_in_use() {
    let served = serve(BREAKER).await;
    let breaker = served.registry.circuit_breaker("payment");
    let (one, other) = (breaker.keyed("eu"), breaker.keyed("us"));
    one.transition_to(State::Open).unwrap();
    for (wanted, state) in [("FORCE_OPEN", State::ForcedOpen), ("CLOSE", State::Closed)] {
        assert_eq!(change(&served, "payment", to(wanted)).await.status(), StatusCode::OK);
        assert_eq!([breaker.state(), one.state(), other.state()], [state; 3]);
    }
}

#[tokio::test]
async fn only_an_object_with_a_word_is_a_change() {
    let served = serve(BREAKER).await;
    for body in [r#"["FORCE_OPEN"]"#, r#"{"updateState":{"FORCE_OPEN":null}}"#, r#""FORCE_OPEN""#] {
        let response = change(&served, "payment", body).await;
        assert_eq!(response.status(), StatusCode::BAD_REQUEST, "{body}");
    }
    assert_eq!(served.registry.circuit_breaker("payment").state(), State::Closed);
}

#[tokio::test]
async fn without_the_token_nothing_is_changed_and_nothing_told() {
    let served = serve(BREAKER).await;
    for authorization in ["", "Bearer", "Bearer wrong", "Basic for-tests-only-0123456789"] {
        // Whether the rest of the request makes sense is not to be seen.
        for (name, body) in [
            ("payment", to("FORCE_OPEN")),
            ("unknown", to("FORCE_OPEN")),
            ("payment", "no JSON".to_owned()),
            ("payment", "x".repeat(100_000)),
        ] {
            let request = served.post(&format!("/circuitbreakers/{name}"));
            let request = request.header("authorization", authorization).body(body);
            let response = request.send().await.unwrap();
            assert_eq!(response.status(), StatusCode::UNAUTHORIZED, "{authorization}");
            assert_eq!(response.headers()["www-authenticate"], "Bearer");
        }
    }
    assert_eq!(served.registry.circuit_breaker("payment").state(), State::Closed);
}

#[tokio::test]
async fn where_no_token_is_configured_no_token_opens() {
    let served = serve_as(BREAKER, |actuator| actuator).await;
    let response = change(&served, "payment", to("FORCE_OPEN")).await;
    assert_eq!(response.status(), StatusCode::FORBIDDEN);
    assert_eq!(served.registry.circuit_breaker("payment").state(), State::Closed);
}

#[tokio::test]
async fn an_unknown_name_is_not_found_and_not_made() {
    let served = serve(BREAKER).await;
    for name in ["unknown", "%00", "payment%2F..", "%F0%9F%92%A5"] {
        let response = change(&served, name, to("CLOSE")).await;
        assert_eq!(response.status(), StatusCode::NOT_FOUND, "{name}");
    }
    assert_eq!(served.registry.circuit_breakers().len(), 1);
}

#[tokio::test]
async fn a_name_is_read_from_its_escapes() {
    let served = serve("").await;
    let breaker = served.registry.circuit_breaker("pay / ü?");
    let response = change(&served, "pay%20%2F%20%C3%BC%3F", to("FORCE_OPEN")).await;
    assert_eq!(response.status(), StatusCode::OK);
    assert_eq!(breaker.state(), State::ForcedOpen);
}

#[tokio::test]
async fn what_makes_no_sense_is_told_what_would() {
    let served = serve(BREAKER).await;
    for body in ["", "{}", "no JSON", r#"{"updateState":"OPEN"}"#, r#"{"updateState":3}"#] {
        let response = change(&served, "payment", body).await;
        assert_eq!(response.status(), StatusCode::BAD_REQUEST, "{body}");
        let problem: Value = response.json().await.unwrap();
        let message = problem["message"].as_str().unwrap();
        for allowed in ["CLOSE", "FORCE_OPEN", "DISABLE", "METRICS_ONLY", "RESET"] {
            assert!(message.contains(allowed), "{message}");
        }
    }
    let long = "n".repeat(220);
    assert_eq!(change(&served, &long, to("CLOSE")).await.status(), StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn a_body_of_more_than_4_kib_is_refused() {
    let served = serve(BREAKER).await;
    let filled = |size: usize| format!("{:size$}", to("FORCE_OPEN"));
    let response = change(&served, "payment", filled(4097)).await;
    assert_eq!(response.status(), StatusCode::PAYLOAD_TOO_LARGE);
    assert_eq!(served.registry.circuit_breaker("payment").state(), State::Closed);
    assert_eq!(change(&served, "payment", filled(4096)).await.status(), StatusCode::OK);
}
