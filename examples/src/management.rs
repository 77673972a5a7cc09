//! The port for those who run a process, apart from the one for its customers.

use std::{env, io};

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

/// Shows everything that protects calls on `127.0.0.1`; port 0 takes a free one.
///
/// # Errors
///
/// If the token is unfit or the port cannot be bound.
pub async fn manage(registry: &Resilience, port: u16) -> Result<Server, ManagementError> {
    let mut actuator = Actuator::new(registry);
    if let Ok(token) = env::var(TOKEN) {
        actuator = actuator.token(token)?;
    }
    let server = actuator.bind(("127.0.0.1", port)).await;
    server.map_err(|source| ManagementError::Listen { port, source })
}
