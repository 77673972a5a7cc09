//! Those who read a stream, by a clock that is moved.

use std::{future::poll_fn, pin::pin, time::Duration};

use axum::{
    body::{Body, BodyDataStream},
    http::Request,
};
use futures_core::Stream as _;
use resilience::{Resilience, actuator::Actuator, circuit_breaker::State};
use serde_json::{Value, json};
use tokio::time::Instant;
use tower::ServiceExt;

use crate::support::{ONE_OF_EACH, registry};

/// One who has opened a stream, and whom nothing reaches but when it asks.
struct Reader(BodyDataStream);

impl Reader {
    async fn of(registry: &Resilience, path: &str) -> Self {
        let request = Request::get(format!("/actuator{path}")).body(Body::empty()).unwrap();
        let response = Actuator::new(registry).router().oneshot(request).await.unwrap();
        Self(response.into_body().into_data_stream())
    }

    /// The next piece, which is an event or a comment.
    async fn next(&mut self) -> String {
        let piece = poll_fn(|cx| pin!(&mut self.0).poll_next(cx)).await.unwrap().unwrap();
        String::from_utf8(piece.to_vec()).unwrap()
    }

    /// The data of the next piece, which is an event of this name.
    async fn data(&mut self, name: &str) -> Value {
        let piece = self.next().await;
        let data = piece.strip_prefix(&format!("event: {name}\ndata: ")).expect(&piece);
        serde_json::from_str(data).unwrap()
    }
}

#[tokio::test(start_paused = true)]
async fn one_without_news_is_shown_every_ten_seconds_that_the_stream_is_alive() {
    let registry = registry(ONE_OF_EACH);
    let heartbeat = "event: heartbeat\ndata: {\"everyMs\":10000}";
    for (path, sign) in [("/stream", heartbeat), ("/streamretryevents", ":")] {
        let mut reader = Reader::of(&registry, path).await;
        if path == "/stream" {
            reader.data("snapshot").await;
        }
        for _ in 0..2 {
            let asked = Instant::now();
            let piece = reader.next().await;
            assert!(piece.starts_with(sign), "{piece}");
            assert_eq!(asked.elapsed().as_secs(), 10, "{path}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_slow_one_skips_updates_and_misses_nothing_of_what_they_came_to() {
    let registry = registry(ONE_OF_EACH);
    let mut reader = Reader::of(&registry, "/stream").await;
    reader.data("snapshot").await;
    let bulkhead = registry.bulkhead("payment");
    for n in 1..=3 {
        drop(bulkhead.try_acquire().unwrap());
        registry.retry(&format!("new-{n}"));
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    let update = reader.data("update").await;
    assert_eq!(update["bulkheads"][0]["permitted"], 3);
    let retries = update["retries"].as_array().unwrap();
    let names: Vec<_> = retries.iter().map(|retry| retry["name"].clone()).collect();
    assert_eq!(names, ["new-1", "new-2", "new-3"]);
    reader.data("heartbeat").await;
}

#[tokio::test(start_paused = true)]
async fn a_slow_one_is_told_how_many_transitions_it_has_missed() {
    let registry = registry(ONE_OF_EACH);
    let mut reader = Reader::of(&registry, "/stream").await;
    reader.data("snapshot").await;
    let breaker = registry.circuit_breaker("payment");
    for _ in 0..1_000 {
        breaker.transition_to(State::Open).unwrap();
        breaker.transition_to(State::Closed).unwrap();
    }
    assert_eq!(reader.data("lost").await, json!({ "lost": 2_000 - 1_024 }));
    for to in ["OPEN", "CLOSED"] {
        assert_eq!(reader.data("transition").await["to"], to);
    }
}
