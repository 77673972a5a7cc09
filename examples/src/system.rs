//! All services in one process, on free loopback ports.

use std::path::PathBuf;

use resilience::Resilience;
use tempfile::TempDir;

use crate::{
    assembly::{self, ProviderUrls, Settling, StartError},
    pg::WebhookPlan,
    web::{Port, Server},
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
    /// Starts every service under the protections of `registry`. The provider reports nothing by
    /// itself until it is told to.
    ///
    /// # Errors
    ///
    /// If a service does not start; those that did are stopped again.
    pub async fn start(registry: &Resilience, settling: &Settling) -> Result<Self, StartError> {
        let databases = tempfile::Builder::new().prefix("resilience-example-").tempdir()?;
        let file = |name: &str| databases.path().join(name);

        // The provider reports to the order service, which is made last.
        let at_order = Port::bind(0).await?;
        let (secret, plan) = (settling.secret.clone(), WebhookPlan::default());
        let app = assembly::provider(registry, &at_order.base_url(), secret, plan)?;
        let provider = Server::start(0, app).await?;
        let providers = ProviderUrls {
            provider_url: provider.base_url(),
            second_provider_url: None,
            third_provider_url: None,
        };
        let app = assembly::payment(registry, &file("payment.db"), &providers, settling).await?;
        let payment = Server::start(0, app).await?;
        let app = assembly::inventory(registry, &file("inventory.db")).await?;
        let inventory = Server::start(0, app).await?;
        let (at_inventory, at_payment) = (inventory.base_url(), payment.base_url());
        let database = file("order.db");
        let app =
            assembly::order(registry, &database, &at_inventory, &at_payment, settling).await?;
        let order = at_order.serve(app);
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
