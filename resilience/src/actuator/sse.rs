//! Server-sent events.

use std::{convert::Infallible, sync::Arc, time::Duration};

use axum::{
    http::StatusCode,
    response::{
        IntoResponse, Response, Sse,
        sse::{Event, KeepAlive},
    },
};
use futures_util::{Stream, StreamExt};
use serde::Serialize;

use super::{problem::Problem, state::App};

/// After how long without an event something else shows that the stream is alive.
const HEARTBEAT: Duration = Duration::from_secs(10);

/// Sends a stream to a client, if there are not too many already, until the client goes or the server
/// stops.
pub(super) fn respond<S>(app: &App, keep_alive: KeepAlive, events: impl FnOnce() -> S) -> Response
where
    S: Stream<Item = Event> + Send + 'static,
{
    let Ok(permit) = Arc::clone(&app.streams).try_acquire_owned() else {
        let message = "there are too many streams: close another one";
        return Problem::new(StatusCode::SERVICE_UNAVAILABLE, message).into_response();
    };
    let mut closing = app.closing.subscribe();
    let app = Arc::clone(app);
    let closed = Box::pin(async move {
        // An error would be the sender's end, and it is held here.
        let _ = closing.wait_for(|closing| *closing).await;
        drop(app);
    });
    let events = events().take_until(closed).map(move |event| {
        let _held_while_it_is_read = &permit;
        Ok::<_, Infallible>(event)
    });
    Sse::new(events).keep_alive(keep_alive).into_response()
}

/// Shows that a stream is alive by comments, which no listener hears.
pub(super) fn comments() -> KeepAlive {
    KeepAlive::new().interval(HEARTBEAT)
}

/// Shows it by events, for pages: a browser tells them of no comments.
pub(super) fn heartbeats() -> KeepAlive {
    let every_ms = HEARTBEAT.as_millis();
    comments().event(named("heartbeat", &Heartbeat { every_ms }))
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Heartbeat {
    /// The longest time without any event.
    every_ms: u128,
}

/// An event with a name, for listeners of that name.
pub(super) fn named(name: &str, data: &impl Serialize) -> Event {
    with(Event::default().event(name), data)
}

/// An event that every listener hears.
pub(super) fn unnamed(data: &impl Serialize) -> Event {
    with(Event::default(), data)
}

fn with(event: Event, data: &impl Serialize) -> Event {
    // Nothing that is sent has a key that is no text, so nothing cannot be written.
    event.json_data(data).unwrap_or_default()
}

/// How many events a slow reader has missed.
#[derive(Debug, Serialize)]
pub(super) struct Lost {
    pub(super) lost: u64,
}

impl Lost {
    pub(super) fn event(lost: u64) -> Event {
        named("lost", &Self { lost })
    }
}
