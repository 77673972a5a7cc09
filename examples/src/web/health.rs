use axum::{Router, extract::State, http::StatusCode, routing::get};

use super::ApiError;

/// Routes `/livez` (the process runs) and `/readyz` (the service can work: 200, else 503).
///
/// Liveness depends on nothing: an open breaker or a dead dependency is no reason to be restarted.
pub fn health<S, F>(service: S, is_ready: impl Fn(S) -> F + Clone + Send + Sync + 'static) -> Router
where
    S: Clone + Send + Sync + 'static,
    F: Future<Output = bool> + Send,
{
    let ready = move |State(service): State<S>| async move {
        if is_ready(service).await {
            Ok("ready")
        } else {
            let message = "the service cannot work now";
            Err(ApiError::new(StatusCode::SERVICE_UNAVAILABLE, "NOT_READY", message))
        }
    };
    Router::new()
        .route("/livez", get(|| async { "alive" }))
        .route("/readyz", get(ready))
        .with_state(service)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::web::Server;

    #[tokio::test]
    async fn a_service_that_cannot_work_is_alive_and_not_ready() {
        let server = Server::start(0, health((), async |()| false)).await.unwrap();
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        let get = async |path| client.get(format!("{}/{path}", server.url())).send().await.unwrap();
        assert_eq!(get("livez").await.status(), 200);
        let answer = get("readyz").await;
        assert_eq!(answer.status(), 503);
        let body: serde_json::Value = answer.json().await.unwrap();
        assert_eq!(body["error"], "NOT_READY");
    }
}
