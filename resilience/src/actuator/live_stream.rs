//! Everything that the page shows: all of it, and then what changes.

use std::sync::Arc;

use axum::{
    Json,
    extract::State,
    response::{IntoResponse, Response, sse::Event},
};
use futures_util::{Stream, stream};
use serde::Serialize;

use super::{
    instances::{Diff, Instances, Transition},
    live::{News, Watcher},
    sse::{self, Lost},
    state::App,
    time::rfc3339_of_nanos,
};

/// Instances at some time, or what has changed since another one.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Told<T> {
    /// The name of the program.
    application: String,
    time: String,
    /// Whether there is a token, with which states can be changed.
    writable: bool,
    #[serde(flatten)]
    what: T,
}

impl<T> Told<T> {
    fn now(app: &App, what: T) -> Self {
        Self {
            application: app.registry.application().to_string(),
            time: rfc3339_of_nanos(app.registry.clock().now()),
            writable: app.token.is_some(),
            what,
        }
    }
}

/// Everything there is to show.
#[derive(Serialize)]
struct Everything<'i> {
    #[serde(flatten)]
    instances: &'i Instances,
    /// The last ones, oldest first.
    transitions: Vec<Transition>,
}

pub(super) async fn instances(State(app): State<App>) -> Response {
    let instances = &app.look(|app| Instances::of(&app.registry)).await;
    let (transitions, _) = app.live.transitions();
    Json(Told::now(&app, Everything { instances, transitions })).into_response()
}

pub(super) async fn stream(State(app): State<App>) -> Response {
    sse::respond(&app, sse::heartbeats(), || follow(Arc::clone(&app)))
}

/// All instances, then their changes and each transition.
fn follow(app: App) -> impl Stream<Item = Event> {
    let watcher = app.live.watch();
    let reader = Reader { app, watcher, known: None };
    stream::unfold(reader, async |mut reader| Some((reader.next().await?, reader)))
}

/// One who reads the stream. A slow one is told what has changed since it was last told something, and
/// misses what was in between.
struct Reader {
    app: App,
    watcher: Watcher,
    known: Option<Arc<Instances>>,
}

impl Reader {
    async fn next(&mut self) -> Option<Event> {
        let Some(known) = &mut self.known else {
            let instances = self.known.insert(self.watcher.latest());
            let transitions = self.watcher.take_earlier();
            let everything = Everything { instances, transitions };
            return Some(sse::named("snapshot", &Told::now(&self.app, everything)));
        };
        Some(match self.watcher.next().await? {
            News::Instances(now) => {
                let before = std::mem::replace(known, Arc::clone(&now));
                sse::named("update", &Told::now(&self.app, Diff::between(&before, &now)))
            }
            News::Transition(transition) => sse::named("transition", &transition),
            News::Lost(lost) => Lost::event(lost),
        })
    }
}
