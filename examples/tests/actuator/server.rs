use std::{future::poll_fn, pin::pin, time::Duration};

use axum::{
    body::{Body, Bytes},
    http::Request,
};
use futures_core::Stream as _;
use reqwest::StatusCode;
use resilience::actuator::Actuator;
use tokio::time::Instant;
use tower::ServiceExt;

use crate::support::{ONE_OF_EACH, TOKEN, registry, serve};

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

/// The next piece of a body, and how long it took to come.
async fn next(
    body: &mut (impl futures_core::Stream<Item = Result<Bytes, axum::Error>> + Unpin),
) -> (String, Duration) {
    let asked = Instant::now();
    let piece = poll_fn(|cx| pin!(&mut *body).poll_next(cx)).await.unwrap().unwrap();
    (String::from_utf8(piece.to_vec()).unwrap(), asked.elapsed())
}

#[tokio::test(start_paused = true)]
async fn a_stream_without_news_shows_every_ten_seconds_that_it_is_alive() {
    let registry = registry(ONE_OF_EACH);
    let router = Actuator::new(&registry).router();
    for (path, begins) in [("stream", true), ("streamretryevents", false)] {
        let request = Request::get(format!("/actuator/{path}")).body(Body::empty()).unwrap();
        let response = router.clone().oneshot(request).await.unwrap();
        let mut body = response.into_body().into_data_stream();
        if begins {
            assert!(next(&mut body).await.0.starts_with("event: snapshot\n"));
        }
        for _ in 0..2 {
            let (piece, waited) = next(&mut body).await;
            assert!(piece.starts_with(':'), "{piece}");
            assert_eq!(waited.as_secs(), 10, "{path}");
        }
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
