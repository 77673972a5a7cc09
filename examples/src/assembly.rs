//! Each service, put together from its parts.

use std::{io, path::Path};

use axum::Router;
use resilience::{ConfigError, Resilience};

use crate::{
    database::OpenError,
    inventory::{self, StockStore},
    management::ManagementError,
    order::{self, InventoryClient, OrderService, OrderStore, PaymentClient},
    payment::{self, PaymentService, PaymentStore, ProviderClient},
    peer::{BaseUrl, Peer},
    pg::{self, Ledger},
    web::{self, ListenError},
};

/// Why a service does not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The declarations of the protections are wrong.
    #[error("the configuration is wrong: {0}")]
    Config(#[from] ConfigError),
    /// The database cannot be used.
    #[error(transparent)]
    Database(#[from] OpenError),
    /// The HTTP client cannot be set up.
    #[error("the HTTP client cannot be set up: {0}")]
    Client(#[from] reqwest::Error),
    /// The port cannot be bound.
    #[error(transparent)]
    Listen(#[from] ListenError),
    /// The management port cannot be opened.
    #[error(transparent)]
    Management(#[from] ManagementError),
    /// A file cannot be written, or a task died.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Puts together the order service.
///
/// # Errors
///
/// If its database or its clients cannot be set up.
pub async fn order(
    registry: &Resilience,
    database: &Path,
    inventory: &BaseUrl,
    payment: &BaseUrl,
) -> Result<Router, StartError> {
    let store = OrderStore::open(database).await?;
    let inventory = InventoryClient::new(Peer::new(inventory)?);
    let payment = PaymentClient::new(Peer::new(payment)?);
    let service = OrderService::new(store, inventory, payment);
    Ok(web::finish(order::routes(service), registry))
}

/// Puts together the inventory service.
///
/// # Errors
///
/// If its database cannot be set up.
pub async fn inventory(registry: &Resilience, database: &Path) -> Result<Router, StartError> {
    let store = StockStore::open(database).await?;
    Ok(web::finish(inventory::routes(store), registry))
}

/// Puts together the payment service.
///
/// # Errors
///
/// If its database or its client cannot be set up.
pub async fn payment(
    registry: &Resilience,
    database: &Path,
    provider: &BaseUrl,
) -> Result<Router, StartError> {
    let store = PaymentStore::open(database).await?;
    let provider = ProviderClient::new(Peer::new(provider)?);
    let service = PaymentService::new(store, provider, registry.clone());
    Ok(web::finish(payment::routes(service), registry))
}

/// Puts together the simulated payment provider.
pub fn provider(registry: &Resilience) -> Router {
    web::finish(pg::routes(Ledger::default()), registry)
}
