use axum::{body::Body, http::Request};
use reqwest::StatusCode;
use resilience::actuator::Actuator;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::Instant,
};
use tower::ServiceExt;

use crate::support::{TOKEN, registry, serve};

#[tokio::test]
async fn on_loopback_only_requests_for_this_host_are_served() {
    let served = serve("").await;
    let port = served.server.address().port();
    for host in ["evil.example".to_owned(), format!("evil.example:{port}")] {
        let response = served.get("/health").header("host", host).send().await.unwrap();
        assert_eq!(response.status(), StatusCode::MISDIRECTED_REQUEST);
    }
    for host in [format!("localhost:{port}"), format!("[::1]:{port}"), "127.0.0.1".to_owned()] {
        let response = served.get("/health").header("host", host).send().await.unwrap();
        assert_eq!(response.status(), StatusCode::OK);
    }
}

#[tokio::test]
async fn stopping_ends_the_streams_and_frees_the_port() {
    let served = serve("").await;
    let address = served.server.address();
    let mut live = served.stream("/stream").await;
    let mut events = served.stream("/streamretryevents").await;
    assert_eq!(live.next().await.unwrap().name, "snapshot");
    served.server.stop().await;
    assert_eq!(live.next().await, None);
    assert_eq!(events.next().await, None);
    let again = Actuator::new(&served.registry).bind(address).await.unwrap();
    assert_eq!(again.address(), address);
}

#[tokio::test]
async fn a_server_that_is_dropped_stops() {
    let served = serve("").await;
    let mut live = served.stream("/stream").await;
    assert_eq!(live.next().await.unwrap().name, "snapshot");
    drop(served.server);
    assert_eq!(live.next().await, None);
}

#[tokio::test(start_paused = true)]
async fn a_request_that_never_becomes_whole_is_given_up_after_ten_seconds() {
    let served = serve("").await;
    let mut half = TcpStream::connect(served.server.address()).await.unwrap();
    half.write_all(b"GET /actuator HTTP/1.1\r\nHost: localhost\r\nX-").await.unwrap();
    let began = Instant::now();
    let mut answer = Vec::new();
    half.read_to_end(&mut answer).await.unwrap();
    assert_eq!(began.elapsed().as_secs(), 10);
}

#[tokio::test]
async fn the_routes_can_be_nested_in_a_programs_own() {
    let registry = registry("");
    let actuator = Actuator::new(&registry).token(TOKEN).unwrap();
    let router = axum::Router::new().nest("/internal", actuator.router());
    let request = Request::get("/internal/actuator/").body(Body::empty()).unwrap();
    let response = router.oneshot(request).await.unwrap();
    let body = axum::body::to_bytes(response.into_body(), 100_000).await.unwrap();
    let links: serde_json::Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(links["_links"]["health"]["href"], "/internal/actuator/health");
}
