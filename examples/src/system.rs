//! All services in one process, on free loopback ports.

use std::path::PathBuf;

use resilience::Resilience;
use tempfile::TempDir;

use crate::{
    assembly::{self, StartError},
    web::Server,
};

/// The whole system, running; its databases go away with it.
#[derive(Debug)]
pub struct System {
    /// The order service.
    pub order: Server,
    /// The inventory service.
    pub inventory: Server,
    /// The payment service.
    pub payment: Server,
    /// The simulated payment provider.
    pub provider: Server,
    databases: TempDir,
}

impl System {
    /// Starts every service under the protections of `registry`.
    ///
    /// # Errors
    ///
    /// If a service does not start; those that did are stopped again.
    pub async fn start(registry: &Resilience) -> Result<Self, StartError> {
        let databases = tempfile::Builder::new().prefix("resilience-example-").tempdir()?;
        let file = |name: &str| databases.path().join(name);

        let provider = Server::start(0, assembly::provider(registry)).await?;
        let app = assembly::payment(registry, &file("payment.db"), &provider.base_url()).await?;
        let payment = Server::start(0, app).await?;
        let app = assembly::inventory(registry, &file("inventory.db")).await?;
        let inventory = Server::start(0, app).await?;
        let (at_inventory, at_payment) = (inventory.base_url(), payment.base_url());
        let app = assembly::order(registry, &file("order.db"), &at_inventory, &at_payment).await?;
        let order = Server::start(0, app).await?;
        Ok(Self { order, inventory, payment, provider, databases })
    }

    /// The database file of a service: `order`, `inventory` or `payment`.
    pub fn database(&self, service: &str) -> PathBuf {
        self.databases.path().join(format!("{service}.db"))
    }

    /// Lets the requests under way finish, callers before callees, and stops.
    ///
    /// # Errors
    ///
    /// If a service had ended with an error or a panic.
    pub async fn stop(self) -> Result<(), StartError> {
        for server in [self.order, self.inventory, self.payment, self.provider] {
            server.stop().await?;
        }
        Ok(())
    }
}
