//! What the handlers share.

use std::{sync::Arc, time::Duration};

use tokio::sync::{Semaphore, watch};

use super::{Actuator, live::Live, token::Token};
use crate::Resilience;

/// How long a request's header and its body may each take to arrive, and a connection may be idle.
pub(super) const ARRIVAL: Duration = Duration::from_secs(10);

/// How many streams there may be at once.
const MOST_STREAMS: usize = 64;

/// What every handler has.
pub(super) struct Shared {
    pub(super) registry: Resilience,
    pub(super) token: Option<Token>,
    pub(super) live: Live,
    /// A permit for each stream that may be opened.
    pub(super) streams: Arc<Semaphore>,
    /// Set once the server stops: streams would go on for ever.
    pub(super) closing: watch::Sender<bool>,
}

pub(super) type App = Arc<Shared>;

impl Shared {
    pub(super) fn new(actuator: Actuator) -> App {
        let Actuator { registry, token, capture_events } = actuator;
        if capture_events {
            registry.capture_events(true);
        }
        Arc::new(Self {
            live: Live::new(registry.clone()),
            registry,
            token,
            streams: Arc::new(Semaphore::new(MOST_STREAMS)),
            closing: watch::Sender::new(false),
        })
    }
}
