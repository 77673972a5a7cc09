use axum::{Router, http::StatusCode, routing::get};

/// Routes `/livez` (the process runs) and `/readyz` (the service can work: 200, else 503).
///
/// Liveness depends on nothing: an open breaker or a dead dependency is no reason to be restarted.
pub fn health<S, F>(is_ready: impl Fn() -> F + Clone + Send + Sync + 'static) -> Router<S>
where
    S: Clone + Send + Sync + 'static,
    F: Future<Output = bool> + Send,
{
    let ready = move || async move {
        if is_ready().await {
            (StatusCode::OK, "ready")
        } else {
            (StatusCode::SERVICE_UNAVAILABLE, "not ready")
        }
    };
    Router::new().route("/livez", get(|| async { "alive" })).route("/readyz", get(ready))
}
