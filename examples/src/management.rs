//! The port for those who run a process, apart from the one for its customers.

use std::{env, io};

use axum::{Router, routing::get_service};
use resilience::{
    Resilience,
    actuator::{Actuator, Server, UnfitToken},
};

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

/// Shows everything that protects calls on `127.0.0.1`, and answers `/livez` and `/readyz` as `health` does;
/// port 0 takes a free one.
///
/// # Errors
///
/// If the token is unfit or the port cannot be bound.
pub async fn manage(
    registry: &Resilience,
    port: u16,
    health: Router,
) -> Result<Server, ManagementError> {
    let health = get_service(health);
    let health = Router::new().route("/livez", health.clone()).route("/readyz", health);
    let mut actuator = Actuator::new(registry).merge(health);
    if let Ok(token) = env::var(TOKEN) {
        actuator = actuator.token(token)?;
    }
    let server = actuator.bind(("127.0.0.1", port)).await;
    server.map_err(|source| ManagementError::Listen { port, source })
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
            let management = manage(&registry, 0, health).await.unwrap();
            for (path, status) in [("livez", 200), ("readyz", ready), ("actuator", 200)] {
                let url = format!("http://{}/{path}", management.address());
                assert_eq!(client.get(url).send().await.unwrap().status(), status, "{path}");
            }
        }
    }
}
