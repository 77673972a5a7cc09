//! The port for those who run a process, apart from the one for its customers.

use std::{
    env, io,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use axum::{
    Router,
    extract::{Request, State},
    http::StatusCode,
    middleware::{Next, from_fn_with_state},
    response::{IntoResponse, Response},
    routing::get_service,
};
use resilience::{
    Resilience,
    actuator::{Actuator, Server, UnfitToken},
};

use crate::web::ApiError;

/// The environment variable with the token that changes by hand need; without one there are none.
pub const TOKEN: &str = "ACTUATOR_TOKEN";

/// Why there is no management port.
#[derive(Debug, thiserror::Error)]
pub enum ManagementError {
    /// The token is not one.
    #[error("{TOKEN} cannot be used: {0}")]
    Token(#[from] UnfitToken),
    /// The port cannot be bound.
    #[error("cannot listen on 127.0.0.1:{port}: {source}")]
    Listen {
        /// The port.
        port: u16,
        /// What the system says.
        source: io::Error,
    },
}

/// Shows everything that protects calls on `127.0.0.1`, and answers `/livez` and `/readyz` as `health` does,
/// until the process is told to stop: it is not ready then, though this port stays open. Port 0 takes a free one.
///
/// # Errors
///
/// If the token is unfit or the port cannot be bound.
pub async fn manage(
    registry: &Resilience,
    port: u16,
    health: Router,
    stopping: &Stopping,
) -> Result<Server, ManagementError> {
    let health = get_service(health);
    let ready = health.clone().layer(from_fn_with_state(stopping.clone(), not_while_stopping));
    let health = Router::new().route("/livez", health).route("/readyz", ready);
    let mut actuator = Actuator::new(registry).merge(health);
    if let Ok(token) = env::var(TOKEN) {
        actuator = actuator.token(token)?;
    }
    let server = actuator.bind(("127.0.0.1", port)).await;
    server.map_err(|source| ManagementError::Listen { port, source })
}

/// Whether a process has been told to stop.
#[derive(Debug, Clone, Default)]
pub struct Stopping(Arc<AtomicBool>);

impl Stopping {
    /// From now on it has.
    pub fn begin(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

async fn not_while_stopping(
    State(stopping): State<Stopping>,
    request: Request,
    next: Next,
) -> Response {
    if stopping.0.load(Ordering::Relaxed) {
        let message = "the service takes no more requests";
        return ApiError::new(StatusCode::SERVICE_UNAVAILABLE, "STOPPING", message).into_response();
    }
    next.run(request).await
}

#[cfg(test)]
mod tests {
    use resilience::{Config, circuit_breaker::State};

    use super::*;
    use crate::web;

    #[tokio::test]
    async fn an_open_breaker_makes_no_process_dead_or_unable_to_work_and_only_the_process_itself_does()
     {
        let registry = Resilience::from_config(Config::default()).unwrap();
        registry.circuit_breaker("paymentCb").transition_to(State::ForcedOpen).unwrap();
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        for (can_work, ready) in [(true, 200), (false, 503)] {
            let health = web::health(can_work, |can_work| async move { can_work });
            let stopping = Stopping::default();
            let management = manage(&registry, 0, health, &stopping).await.unwrap();
            let expect = async |statuses: [(&str, u16); 3]| {
                for (path, status) in statuses {
                    let url = format!("http://{}/{path}", management.address());
                    assert_eq!(client.get(url).send().await.unwrap().status(), status, "{path}");
                }
            };
            expect([("livez", 200), ("readyz", ready), ("actuator", 200)]).await;
            stopping.begin();
            expect([("livez", 200), ("readyz", 503), ("actuator", 200)]).await;
        }
    }
}
