//! Events as they happen.

use std::{collections::VecDeque, sync::Arc};

use axum::{
    Router,
    extract::State,
    response::{Response, sse::Event},
    routing::get,
};
use futures_util::{Stream, stream};
use tokio::sync::Notify;

use super::{
    extract::Path,
    filter::Filter,
    problem::Problem,
    sse::{self, Lost},
    state::App,
    topic::Topic,
};
use crate::{
    events::{InstanceEvent, RecentEvent},
    sync::plain::Mutex,
};

/// How many events wait for a slow reader before the oldest is lost.
const CAPACITY: usize = 1024;

pub(super) fn routes<T: Topic>() -> Router<App> {
    let path = format!("/stream{}", T::EVENTS);
    Router::new()
        .route(&path, get(open::<T>))
        .route(&format!("{path}/{{name}}"), get(open::<T>))
        .route(&format!("{path}/{{name}}/{{type}}"), get(open::<T>))
}

async fn open<T: Topic>(
    State(app): State<App>,
    Path(filter): Path<Filter>,
) -> Result<Response, Problem> {
    let filter = filter.checked(T::TYPES)?;
    Ok(sse::respond(&app, sse::comments(), || follow::<T>(&app, &filter)))
}

/// What happens at the instances from now on.
fn follow<T: Topic>(app: &App, filter: &Filter) -> impl Stream<Item = Event> + use<T> {
    let buffer = Arc::new(Buffer::default());
    let listening = T::listen(&app.registry, filter, {
        let buffer = Arc::clone(&buffer);
        move |name, event| buffer.push((name, event))
    });
    stream::unfold((buffer, listening), async |(buffer, listening)| {
        let event = match buffer.next().await {
            Next::Item((name, event)) => sse::unnamed(&json::<T>(name, &event)),
            Next::Lost(lost) => Lost::event(lost),
        };
        Some((event, (buffer, listening)))
    })
}

fn json<T: Topic>(name: String, event: &InstanceEvent<T::Kind>) -> T::Json {
    T::json(name, RecentEvent::of(event))
}

/// The last so many items for one reader, who is told how many were lost.
struct Buffer<T> {
    waiting: Mutex<Waiting<T>>,
    pushed: Notify,
}

struct Waiting<T> {
    items: VecDeque<T>,
    lost: u64,
}

enum Next<T> {
    Item(T),
    /// So many were pushed before what comes next, and pushed out again.
    Lost(u64),
}

impl<T> Default for Buffer<T> {
    fn default() -> Self {
        let waiting = Waiting { items: VecDeque::new(), lost: 0 };
        Self { waiting: Mutex::new(waiting), pushed: Notify::new() }
    }
}

impl<T> Buffer<T> {
    fn push(&self, item: T) {
        let mut waiting = self.waiting.lock();
        if waiting.items.len() == CAPACITY {
            waiting.items.pop_front();
            waiting.lost += 1;
        }
        waiting.items.push_back(item);
        drop(waiting);
        self.pushed.notify_one();
    }

    async fn next(&self) -> Next<T> {
        loop {
            if let Some(next) = self.take() {
                return next;
            }
            self.pushed.notified().await;
        }
    }

    fn take(&self) -> Option<Next<T>> {
        let mut waiting = self.waiting.lock();
        match std::mem::take(&mut waiting.lost) {
            0 => waiting.items.pop_front().map(Next::Item),
            lost => Some(Next::Lost(lost)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_slow_reader_loses_the_oldest_and_is_told_how_many() {
        let buffer = Buffer::default();
        (0..CAPACITY + 3).for_each(|n| buffer.push(n));
        assert!(matches!(buffer.next().await, Next::Lost(3)));
        assert!(matches!(buffer.next().await, Next::Item(3)));
        (0..2).for_each(|n| buffer.push(n));
        assert!(matches!(buffer.next().await, Next::Lost(1)));
    }
}
