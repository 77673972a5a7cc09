//! The layers around a reqwest client: over real HTTP on loopback.

#![allow(clippy::unwrap_used, reason = "a failure here fails the test")]

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

use axum::{Router, http::StatusCode, routing::get};
use reqwest::{Client, Method, Request};
use resilience::{
    CallError, Config, Error, ErrorKind, Resilience,
    config::Format,
    tower::{StackLayer, reqwest_outcome},
};
use tokio::net::TcpListener;
use tower::{Layer, Service, ServiceExt};

/// A server that fails as often as told, and then answers; gives its address.
async fn server(failures: u32) -> (String, Arc<AtomicU32>) {
    let asked = Arc::<AtomicU32>::default();
    let counter = Arc::clone(&asked);
    let answer = move || {
        let failing = counter.fetch_add(1, Ordering::Relaxed) < failures;
        async move { if failing { StatusCode::SERVICE_UNAVAILABLE } else { StatusCode::OK } }
    };
    let router = Router::new().route("/stock", get(answer.clone()).post(answer));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, router).await });
    (format!("http://{address}/stock"), asked)
}

fn registry(lists: &str) -> Resilience {
    let yaml = format!(
        "strict: true
retry.instances.stock: {{ max_attempts: 3, wait_duration: 1ms, {lists} }}
circuitbreaker.instances.stock: {{ sliding_window_size: 100, ignore_errors: [http_404] }}"
    );
    Resilience::from_config(Config::from_str(&yaml, Format::Yaml).unwrap()).unwrap()
}

fn client() -> Client {
    Client::builder().no_proxy().build().unwrap()
}

fn request(method: Method, url: &str) -> Request {
    Request::new(method, url.parse().unwrap())
}

#[tokio::test]
async fn a_client_behind_a_stack_asks_again_until_the_answer_is_good() {
    let registry = registry("");
    let (url, asked) = server(2).await;
    let stack = StackLayer::from_registry(&registry, "stock")
        .kinds()
        .classify(reqwest_outcome)
        .clone_request(Request::try_clone);
    let response = stack.layer(client()).oneshot(request(Method::GET, &url)).await.unwrap();
    assert_eq!(response.status(), 200);
    assert_eq!(asked.load(Ordering::Relaxed), 3);
    assert_eq!(registry.circuit_breaker("stock").metrics().failed_calls, 2);
}

#[tokio::test]
async fn a_client_repeats_only_the_requests_that_it_is_told_to() {
    let registry = registry("");
    let (url, asked) = server(9).await;
    let stack =
        StackLayer::from_registry(&registry, "stock").classify(reqwest_outcome).clone_request(
            |request: &Request| request.try_clone().filter(|copy| *copy.method() == Method::GET),
        );
    let mut service = stack.layer(client());
    let response = service.ready().await.unwrap().call(request(Method::POST, &url)).await.unwrap();
    assert_eq!(response.status(), 503);
    assert_eq!(asked.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn lists_name_the_kinds_of_a_clients_errors() {
    // `strict` holds: the kinds are declared by the feature.
    let registry = registry("retry_errors: [connect, http_503]");
    let free = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let nobody = format!("http://{}/", free.local_addr().unwrap());
    drop(free);
    let stack =
        StackLayer::from_registry(&registry, "stock").kinds().clone_request(Request::try_clone);
    let error = stack.layer(client()).oneshot(request(Method::GET, &nobody)).await.unwrap_err();
    assert!(matches!(&error, CallError::Inner(error) if error.kinds() == ["connect", "io"]));
    assert_eq!(registry.retry("stock").metrics().failed_with_retry, 1);

    let (url, _) = server(9).await;
    let status = client().get(&url).send().await.unwrap().error_for_status().unwrap_err();
    assert_eq!(status.kinds(), ["http_503", "http_5xx"]);
}

#[tokio::test]
async fn an_open_breaker_keeps_a_client_from_asking() {
    let registry = registry("");
    let (url, asked) = server(0).await;
    let breaker = registry.circuit_breaker("stock");
    breaker.transition_to(resilience::circuit_breaker::State::ForcedOpen).unwrap();
    let stack = StackLayer::from_registry(&registry, "stock").clone_request(Request::try_clone);
    let error = stack.layer(client()).oneshot(request(Method::GET, &url)).await.unwrap_err();
    assert!(matches!(error, CallError::Resilience(Error::CallNotPermitted(_))));
    assert_eq!(asked.load(Ordering::Relaxed), 0);
}
