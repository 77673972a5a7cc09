//! The layers around an axum router.

#![allow(clippy::unwrap_used, reason = "a failure here fails the test")]

use std::{
    future::pending,
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    task::{Context, Poll, Waker},
};

use axum::{
    Router,
    body::{Body, to_bytes},
    extract::Request,
    http::{Method, StatusCode},
    response::{IntoResponse, Response},
    routing::get,
};
use resilience::{
    Config, Resilience,
    circuit_breaker::State,
    config::Format,
    tower::{
        BulkheadLayer, CircuitBreakerLayer, RateLimiterLayer, RefusalsToHttp, StackLayer,
        http_outcome,
    },
};
use tower::{ServiceBuilder, ServiceExt};

fn registry(yaml: &str) -> Resilience {
    Resilience::from_config(Config::from_str(yaml, Format::Yaml).unwrap()).unwrap()
}

fn request(method: Method, path: &str) -> Request {
    Request::builder().method(method).uri(path).body(Body::empty()).unwrap()
}

async fn ask(router: &Router, path: &str) -> Response {
    router.clone().oneshot(request(Method::GET, path)).await.unwrap()
}

/// A copy of a request that may be sent twice: a GET without a body.
fn repeatable(request: &Request) -> Option<Request> {
    (request.method() == Method::GET).then(|| {
        let mut copy = Request::new(Body::empty());
        *copy.method_mut() = request.method().clone();
        *copy.uri_mut() = request.uri().clone();
        *copy.headers_mut() = request.headers().clone();
        copy
    })
}

#[tokio::test]
async fn a_breaker_around_a_router_opens_on_server_errors_of_any_route() {
    let registry = registry(
        "circuitbreaker.instances.api: { sliding_window_size: 2, wait_duration_in_open_state: 90s }",
    );
    let breaker = CircuitBreakerLayer::from_registry(&registry, "api");
    let router = Router::new()
        .route("/well", get(|| async { "well" }))
        .route("/ill", get(|| async { StatusCode::BAD_GATEWAY }))
        .route("/gone", get(|| async { StatusCode::NOT_FOUND }))
        .layer(
            ServiceBuilder::new()
                .layer(RefusalsToHttp)
                .layer(breaker.classify(http_outcome::<Body>)),
        );
    assert_eq!(ask(&router, "/gone").await.status(), StatusCode::NOT_FOUND);
    assert_eq!(ask(&router, "/ill").await.status(), StatusCode::BAD_GATEWAY);
    assert_eq!(registry.circuit_breaker("api").state(), State::Open);
    let refused = ask(&router, "/well").await;
    assert_eq!(refused.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(refused.headers()["retry-after"], "90");
    let body = to_bytes(refused.into_body(), 1000).await.unwrap();
    assert_eq!(body, "temporarily unavailable");
}

#[tokio::test]
async fn a_limited_router_answers_429_and_says_when_to_come_back() {
    let registry = registry(
        "ratelimiter.instances.api:
           { limit_for_period: 1, limit_refresh_period: 1h, timeout_duration: 0 }",
    );
    let router = Router::new().route("/", get(|| async { "well" })).layer(
        ServiceBuilder::new()
            .layer(RefusalsToHttp)
            .layer(RateLimiterLayer::from_registry(&registry, "api")),
    );
    assert_eq!(ask(&router, "/").await.status(), StatusCode::OK);
    let refused = ask(&router, "/").await;
    assert_eq!(refused.status(), StatusCode::TOO_MANY_REQUESTS);
    let seconds: u64 = refused.headers()["retry-after"].to_str().unwrap().parse().unwrap();
    assert!((1..=3600).contains(&seconds), "{seconds}");
}

const WHOLE: &str = "
    retry.instances.api: { max_attempts: 3, wait_duration: 0ms }
    circuitbreaker.instances.api: { sliding_window_size: 100 }
    timelimiter.instances.api: { timeout_duration: 1s }
    bulkhead.instances.api: { max_concurrent_calls: 1 }";

/// What a whole stack makes of a router; it counts the requests that come through.
fn protected(registry: &Resilience, handled: &Arc<AtomicU32>) -> Router {
    let handled = Arc::clone(handled);
    let hang = move || {
        handled.fetch_add(1, Ordering::Relaxed);
        async { pending::<&str>().await.into_response() }
    };
    let failing = || async { StatusCode::INTERNAL_SERVER_ERROR };
    let stack = StackLayer::from_registry(registry, "api")
        .kinds()
        .classify(http_outcome::<Body>)
        .clone_request(repeatable);
    Router::new()
        .route("/hang", get(hang.clone()).post(hang))
        .route("/ill", get(failing).post(failing))
        .layer(ServiceBuilder::new().layer(RefusalsToHttp).layer(stack))
}

#[tokio::test(start_paused = true)]
async fn a_request_that_may_be_repeated_is_and_a_timeout_is_504() {
    let (registry, handled) = (registry(WHOLE), Arc::default());
    let router = protected(&registry, &handled);
    assert_eq!(ask(&router, "/hang").await.status(), StatusCode::GATEWAY_TIMEOUT);
    assert_eq!(handled.load(Ordering::Relaxed), 3);
    let post = router.clone().oneshot(request(Method::POST, "/hang")).await.unwrap();
    assert_eq!(post.status(), StatusCode::GATEWAY_TIMEOUT);
    assert_eq!(handled.load(Ordering::Relaxed), 4, "a POST has one attempt");

    assert_eq!(ask(&router, "/ill").await.status(), StatusCode::INTERNAL_SERVER_ERROR);
    assert_eq!(registry.circuit_breaker("api").metrics().failed_calls, 7);
}

#[tokio::test(start_paused = true)]
async fn a_request_that_is_dropped_frees_its_slot() {
    let (registry, handled) = (registry(WHOLE), Arc::default());
    let router = protected(&registry, &handled);
    let bulkhead = registry.bulkhead("api");
    {
        let mut hanging = pin!(ask(&router, "/hang"));
        let mut cx = Context::from_waker(Waker::noop());
        assert!(matches!(hanging.as_mut().poll(&mut cx), Poll::Pending));
        assert_eq!(bulkhead.available_concurrent_calls(), 0);
        assert_eq!(ask(&router, "/ill").await.status(), StatusCode::SERVICE_UNAVAILABLE);
    }
    assert_eq!(bulkhead.available_concurrent_calls(), 1);
    assert_eq!(ask(&router, "/ill").await.status(), StatusCode::INTERNAL_SERVER_ERROR);
}

#[tokio::test]
async fn routes_of_one_layer_share_its_slots() {
    let registry = registry("bulkhead.instances.api: { max_concurrent_calls: 1 }");
    let bulkhead = registry.bulkhead("api");
    let router = registry.scope_sync(|| {
        Router::new()
            .route("/a", get(|| async { "a" }))
            .route("/b", get(|| async { "b" }))
            .layer(ServiceBuilder::new().layer(RefusalsToHttp).layer(BulkheadLayer::named("api")))
    });
    let taken = bulkhead.try_acquire().unwrap();
    for path in ["/a", "/b"] {
        assert_eq!(ask(&router, path).await.status(), StatusCode::SERVICE_UNAVAILABLE);
    }
    drop(taken);
    for path in ["/a", "/b"] {
        assert_eq!(ask(&router, path).await.status(), StatusCode::OK);
    }
}
