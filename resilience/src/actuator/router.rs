//! The routes.

use std::sync::Arc;

use axum::{Router, extract::DefaultBodyLimit, middleware, routing::get};

use super::{
    body, change_state, config, event_stream, events, health, host, index, lists, live_stream,
    page, problem, prometheus, state::App,
};
use crate::{Bulkhead, CircuitBreaker, RateLimiter, Retry, TimeLimiter};

/// The routes for a router of the program's own.
pub(super) fn router(app: App, beside: Router) -> Router {
    secured(routes(app).merge(bounded(beside)))
}

/// The routes of a server that has nothing else; if it is `local`, for requests to this host only.
pub(super) fn whole(app: App, beside: Router, local: bool) -> Router {
    let routes = routes(app).merge(bounded(beside)).fallback(problem::not_found);
    secured(if local { routes.layer(middleware::from_fn(host::local_only)) } else { routes })
}

/// The program's own routes, which take no more and wait no longer than the actuator's.
fn bounded(beside: Router) -> Router {
    let arrived = middleware::from_fn(body::arrived);
    beside.layer(arrived).layer(DefaultBodyLimit::max(body::LARGEST))
}

/// Around all else, so that what is refused is secured too.
fn secured(routes: Router) -> Router {
    routes.layer(middleware::map_response(page::secure))
}

fn routes(app: App) -> Router {
    let authorized = middleware::from_fn_with_state(Arc::clone(&app), change_state::authorize);
    let change = axum::routing::post(change_state::change)
        .layer(DefaultBodyLimit::max(body::LARGEST))
        .route_layer(authorized);
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
        .merge(event_stream::routes::<CircuitBreaker>())
        .merge(event_stream::routes::<RateLimiter>())
        .merge(event_stream::routes::<Retry>())
        .merge(event_stream::routes::<Bulkhead>())
        .merge(event_stream::routes::<TimeLimiter>())
        .route("/health", get(health::aggregate))
        .route("/health/liveness", get(health::liveness))
        .route("/health/readiness", get(health::readiness))
        .route("/config", get(config::config))
        .route("/prometheus", get(prometheus::prometheus))
        .route("/instances", get(live_stream::instances))
        .route("/stream", get(live_stream::stream))
        .merge(page::files())
        .fallback(problem::not_found)
        .method_not_allowed_fallback(problem::method_not_allowed);
    Router::new()
        .route("/actuator", get(index::index))
        .route("/actuator/", get(index::index))
        .nest("/actuator", routes)
        .method_not_allowed_fallback(problem::method_not_allowed)
        .with_state(app)
}
