//! The layers around a gRPC server and its client, over loopback.

#![allow(clippy::unwrap_used, reason = "a failure here fails the test")]

use std::net::SocketAddr;

use resilience::{
    Config, ErrorKind, Resilience,
    circuit_breaker::State,
    config::Format,
    tower::{CircuitBreakerLayer, RateLimiterLayer, RefusalsToGrpc, StackLayer, grpc_outcome},
};
use tokio::net::TcpListener;
use tonic::{
    Code, Status,
    body::Body,
    transport::{Channel, Server, server::TcpIncoming},
};
use tonic_health::pb::{HealthCheckRequest, health_client::HealthClient};
use tower::ServiceBuilder;

fn registry(yaml: &str) -> Resilience {
    Resilience::from_config(Config::from_str(yaml, Format::Yaml).unwrap()).unwrap()
}

/// A health service behind the layers of this registry; it does not know most services.
async fn server(registry: &Resilience) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let layers = ServiceBuilder::new()
        .layer(RefusalsToGrpc)
        .layer(RateLimiterLayer::from_registry(registry, "server"))
        .into_inner();
    let (_, health) = tonic_health::server::health_reporter();
    let serving = Server::builder()
        .layer(layers)
        .add_service(health)
        .serve_with_incoming(TcpIncoming::from(listener));
    tokio::spawn(serving);
    address
}

async fn channel(address: SocketAddr) -> Channel {
    Channel::from_shared(format!("http://{address}")).unwrap().connect().await.unwrap()
}

fn about(service: &str) -> HealthCheckRequest {
    HealthCheckRequest { service: service.to_owned() }
}

#[tokio::test]
async fn a_server_answers_what_it_refuses_with_a_status_and_the_time_to_come_back() {
    let registry = registry(
        "ratelimiter.instances.server:
           { limit_for_period: 1, limit_refresh_period: 1h, timeout_duration: 0 }",
    );
    let mut client = HealthClient::new(channel(server(&registry).await).await);
    client.check(about("")).await.unwrap();
    let refused = client.check(about("")).await.unwrap_err();
    assert_eq!(refused.code(), Code::ResourceExhausted);
    assert_eq!(refused.message(), "too many requests");
    let seconds: u64 =
        refused.metadata().get("retry-after").unwrap().to_str().unwrap().parse().unwrap();
    assert!((1..=3600).contains(&seconds), "{seconds}");
    assert!(refused.metadata().contains_key("grpc-retry-pushback-ms"));
    assert_eq!(refused.kinds(), ["resource_exhausted"]);
}

#[tokio::test]
async fn a_client_behind_a_breaker_gets_a_status_when_it_is_open() {
    let registry = registry(
        "ratelimiter.instances.server: { limit_for_period: 1, limit_refresh_period: 1h, timeout_duration: 0 }
circuitbreaker.instances.client: { sliding_window_size: 2, wait_duration_in_open_state: 90s }",
    );
    let channel = ServiceBuilder::new()
        .layer(RefusalsToGrpc)
        .layer(
            CircuitBreakerLayer::from_registry(&registry, "client").classify(grpc_outcome::<Body>),
        )
        .service(channel(server(&registry).await).await);
    let mut client = HealthClient::new(channel);
    client.check(about("")).await.unwrap();
    let by_server = client.check(about("")).await.unwrap_err();
    assert_eq!(by_server.code(), Code::ResourceExhausted);
    assert_eq!(registry.circuit_breaker("client").state(), State::Open);
    let by_breaker = client.check(about("")).await.unwrap_err();
    assert_eq!(by_breaker.code(), Code::Unavailable);
    assert_eq!(by_breaker.message(), "temporarily unavailable");
    assert_eq!(by_breaker.metadata().get("retry-after").unwrap(), "90");
}

#[tokio::test]
async fn a_stack_around_a_channel_sees_the_kinds_of_its_errors() {
    let registry = registry(
        "strict: true
retry.instances.client: { max_attempts: 3, wait_duration: 1ms, retry_errors: [connect] }",
    );
    let free = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let nobody = format!("http://{}", free.local_addr().unwrap());
    drop(free);
    let channel = ServiceBuilder::new()
        .layer(RefusalsToGrpc)
        // The messages of a unary call are one body, which is read as it is sent: no copy of it.
        // This one is empty, as the connection fails before it is asked for.
        .layer(StackLayer::from_registry(&registry, "client").kinds().clone_request(copy))
        .map_err(|error: tonic::transport::Error| Status::from_error(error.into()))
        .service(Channel::from_shared(nobody).unwrap().connect_lazy());
    let mut client = HealthClient::new(channel);
    let failed = client.check(about("")).await.unwrap_err();
    assert_eq!(failed.code(), Code::Unavailable);
    assert_eq!(registry.retry("client").metrics().failed_with_retry, 1);
}

fn copy(request: &http::Request<Body>) -> Option<http::Request<Body>> {
    let mut copy = http::Request::new(Body::empty());
    *copy.method_mut() = request.method().clone();
    *copy.uri_mut() = request.uri().clone();
    *copy.headers_mut() = request.headers().clone();
    (*request.method() == http::Method::POST).then_some(copy)
}

#[tokio::test]
async fn a_refusal_is_a_status_for_functions_that_return_one() {
    #[resilience::bulkhead(max_concurrent_calls = 0)]
    async fn nobody_enters() -> Result<(), Status> {
        Ok(())
    }
    let refused = nobody_enters().await.unwrap_err();
    assert_eq!(refused.code(), Code::Unavailable);
    assert!(!refused.message().contains("nobody_enters"));
}
