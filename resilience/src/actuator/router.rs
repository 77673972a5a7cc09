//! The routes, and what their handlers share.

use std::sync::Arc;

use axum::{Router, extract::DefaultBodyLimit, middleware, routing::get};
use tokio::sync::{Semaphore, watch};

use super::{
    Actuator, config, events, health, index, instances, lists, live::Live, page, prometheus,
    stream, token::Token, transition,
};
use crate::{Bulkhead, CircuitBreaker, RateLimiter, Resilience, Retry, TimeLimiter};

/// The longest name that a path may have, in characters: no instance has a longer one.
pub(super) const LONGEST_NAME: usize = 200;

const LARGEST_BODY: usize = 4096;

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

pub(super) fn router(app: App) -> Router {
    let authorized = middleware::from_fn_with_state(Arc::clone(&app), transition::authorize);
    let change = axum::routing::post(transition::change)
        .layer(DefaultBodyLimit::max(LARGEST_BODY))
        .layer(authorized);
    let routes = Router::new()
        .route("/circuitbreakers", get(lists::circuit_breakers))
        .route("/circuitbreakers/{name}", change)
        .route("/ratelimiters", get(lists::rate_limiters))
        .route("/retries", get(lists::retries))
        .route("/bulkheads", get(lists::bulkheads))
        .route("/timelimiters", get(lists::time_limiters))
        .merge(events::routes::<CircuitBreaker>())
        .merge(events::routes::<RateLimiter>())
        .merge(events::routes::<Retry>())
        .merge(events::routes::<Bulkhead>())
        .merge(events::routes::<TimeLimiter>())
        .merge(stream::routes::<CircuitBreaker>())
        .merge(stream::routes::<RateLimiter>())
        .merge(stream::routes::<Retry>())
        .merge(stream::routes::<Bulkhead>())
        .merge(stream::routes::<TimeLimiter>())
        .route("/health", get(health::aggregate))
        .route("/health/liveness", get(health::liveness))
        .route("/health/readiness", get(health::readiness))
        .route("/config", get(config::config))
        .route("/prometheus", get(prometheus::prometheus))
        .route("/instances", get(instances::instances))
        .route("/stream", get(instances::stream))
        .merge(page::files());
    Router::new()
        .route("/actuator", get(index::index))
        .route("/actuator/", get(index::index))
        .nest("/actuator", routes)
        .layer(middleware::map_response(page::secure))
        .with_state(app)
}
