//! What the handlers share.

use std::{sync::Arc, time::Duration};

use tokio::sync::{Semaphore, watch};

use super::{Actuator, live::Live, token::Token};
use crate::Resilience;

/// How long a request's header and its body may each take to arrive, and a connection may be idle.
pub(super) const ARRIVAL: Duration = Duration::from_secs(10);

/// How many streams there may be at once.
const MOST_STREAMS: usize = 64;

/// How many answers that look at everything there is are made at once; others wait.
const MOST_LOOKS: usize = 2;

/// What every handler has.
pub(super) struct Shared {
    pub(super) registry: Resilience,
    pub(super) token: Option<Token>,
    pub(super) live: Live,
    /// A permit for each stream that may be opened.
    pub(super) streams: Arc<Semaphore>,
    looks: Semaphore,
    /// Set once the server stops: streams would go on for ever.
    pub(super) closing: watch::Sender<bool>,
}

pub(super) type App = Arc<Shared>;

impl Shared {
    pub(super) fn new(actuator: Actuator) -> App {
        let Actuator { registry, token, capture_events, beside: _ } = actuator;
        if capture_events {
            registry.capture_events(true);
        }
        Arc::new(Self {
            live: Live::new(registry.clone()),
            registry,
            token,
            streams: Arc::new(Semaphore::new(MOST_STREAMS)),
            looks: Semaphore::new(MOST_LOOKS),
            closing: watch::Sender::new(false),
        })
    }

    /// Makes an answer that takes the longer the more instances there are, where it holds up no task of
    /// the program's.
    ///
    /// # Panics
    ///
    /// As `work` does, or when the runtime stops.
    pub(super) async fn look<R: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Self) -> R + Send + 'static,
    ) -> R {
        // It is closed never; and a look without a permit would be one too many at most.
        let _permit = self.looks.acquire().await;
        let app = Arc::clone(self);
        match tokio::task::spawn_blocking(move || work(&app)).await {
            Ok(result) => result,
            Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
            Err(error) => panic!("the runtime was shut down: {error}"),
        }
    }
}
