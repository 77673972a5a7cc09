use std::time::Duration;

use axum::{
    Router,
    body::{Body, Bytes},
    http::Request,
    routing::{get, post},
};
use reqwest::StatusCode;
use resilience::actuator::Actuator;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::{Instant, timeout},
};
use tower::ServiceExt;

use crate::support::{PATIENCE, Served, TOKEN, registry, serve};

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
async fn routes_of_the_programs_own_are_served_beside_it_for_this_host_only() {
    let livez = Router::new().route("/livez", get(|| async { "alive" }));
    let server = Actuator::new(&registry("")).merge(livez).bind("127.0.0.1:0").await.unwrap();
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let ask = |path| client.get(format!("http://{}{path}", server.address()));
    let answer = ask("/livez").send().await.unwrap();
    assert_eq!(answer.text().await.unwrap(), "alive");
    let answer = ask("/livez").header("host", "evil.example").send().await.unwrap();
    assert_eq!(answer.status(), StatusCode::MISDIRECTED_REQUEST);
    for (path, status) in [("/actuator/health", StatusCode::OK), ("/x", StatusCode::NOT_FOUND)] {
        assert_eq!(ask(path).send().await.unwrap().status(), status, "{path}");
    }
}

#[tokio::test]
async fn routes_of_the_programs_own_take_no_longer_bodies_than_the_actuator_does() {
    let echo = Router::new().route("/echo", post(async |body: Bytes| body.len().to_string()));
    let server = Actuator::new(&registry("")).merge(echo).bind("127.0.0.1:0").await.unwrap();
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    for (length, status) in [(4_096, StatusCode::OK), (4_097, StatusCode::PAYLOAD_TOO_LARGE)] {
        let ask = client.post(format!("http://{}/echo", server.address())).body(vec![b'x'; length]);
        assert_eq!(ask.send().await.unwrap().status(), status, "{length}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_body_for_a_route_of_the_programs_own_that_does_not_arrive_is_not_waited_for() {
    let echo = Router::new().route("/echo", post(async |body: Bytes| body.len().to_string()));
    let server = Actuator::new(&registry("")).merge(echo).bind("127.0.0.1:0").await.unwrap();
    let mut half = TcpStream::connect(server.address()).await.unwrap();
    half.write_all(b"POST /echo HTTP/1.1\r\nhost: localhost\r\ncontent-length: 9\r\n\r\nhalf")
        .await
        .unwrap();
    let began = Instant::now();
    let mut answer = [0; 12];
    timeout(PATIENCE, half.read_exact(&mut answer)).await.unwrap().unwrap();
    assert_eq!(answer, *b"HTTP/1.1 408");
    assert_eq!(began.elapsed().as_secs(), 10);
}

#[tokio::test]
async fn the_fallbacks_of_merged_routes_are_left_out() {
    let with_fallback = || Router::new().fallback(async || "somebody else's");
    let actuator = Actuator::new(&registry("")).merge(with_fallback()).merge(with_fallback());
    let server = actuator.clone().bind("127.0.0.1:0").await.unwrap();
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let answer = client.get(format!("http://{}/x", server.address())).send().await.unwrap();
    assert_eq!(answer.status(), StatusCode::NOT_FOUND);
    let _programs_own: Router = Router::new().fallback(async || "mine").merge(actuator.router());
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

#[tokio::test(start_paused = true)]
async fn a_body_that_never_becomes_whole_is_given_up_after_ten_seconds() {
    let served = serve("circuitbreaker.instances.payment: {}").await;
    let mut half = TcpStream::connect(served.server.address()).await.unwrap();
    let head = format!(
        "POST /actuator/circuitbreakers/payment HTTP/1.1\r\nHost: localhost\r\n\
         Authorization: Bearer {TOKEN}\r\nContent-Length: 30\r\n\r\n{{"
    );
    half.write_all(head.as_bytes()).await.unwrap();
    let began = Instant::now();
    let mut answer = [0; 12];
    timeout(PATIENCE, half.read_exact(&mut answer)).await.unwrap().unwrap();
    assert_eq!(answer, *b"HTTP/1.1 408");
    assert_eq!(began.elapsed().as_secs(), 10);
}

const REQUESTS: usize = 100;

/// Asks for more than fits between the two sides, and reads nothing of it.
async fn greedy(served: &Served) -> TcpStream {
    for number in 0..200 {
        served.registry.circuit_breaker(&format!("breaker-{number}"));
    }
    let mut client = TcpStream::connect(served.server.address()).await.unwrap();
    let request = "GET /actuator/prometheus HTTP/1.1\r\nHost: localhost\r\n";
    let all_but_one = format!("{request}\r\n").repeat(REQUESTS - 1);
    let requests = format!("{all_but_one}{request}Connection: close\r\n\r\n");
    client.write_all(requests.as_bytes()).await.unwrap();
    client.readable().await.unwrap();
    client
}

#[tokio::test(start_paused = true)]
async fn a_client_that_reads_nothing_keeps_the_server_from_stopping_for_five_seconds_only() {
    let served = serve("").await;
    let _client = greedy(&served).await;
    let began = Instant::now();
    timeout(PATIENCE, served.server.stop()).await.unwrap();
    assert_eq!(began.elapsed().as_secs(), 5);
}

#[tokio::test(start_paused = true)]
async fn a_client_that_reads_nothing_is_given_up_after_thirty_seconds() {
    for (seconds, whole) in [(20, true), (31, false)] {
        let served = serve("").await;
        let mut client = greedy(&served).await;
        tokio::time::sleep(Duration::from_secs(seconds)).await;
        // What is read now takes real time, which the clock must not jump over.
        tokio::time::resume();
        let mut answers = Vec::new();
        // Whether that ends in an error depends on what was under way.
        let _ = client.read_to_end(&mut answers).await;
        let answered = String::from_utf8_lossy(&answers).matches("HTTP/1.1 200").count();
        assert_eq!(answered == REQUESTS, whole, "{answered} after {seconds} seconds");
        tokio::time::pause();
    }
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
