//! All services in one process, on free loopback ports.

use std::path::PathBuf;

use resilience::Resilience;
use tempfile::TempDir;

use crate::{
    access::Lifetimes,
    assembly::{self, Accounts, OrderUrls, ProviderUrls, Settling, StartError},
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
    /// The simulated account service.
    pub account: Server,
    /// The simulated mail service.
    pub mail: Server,
    databases: TempDir,
}

impl System {
    /// Starts every service under the protections of `registry`. The provider reports nothing by
    /// itself until it is told to, and what the account service says is good for these lifetimes.
    ///
    /// # Errors
    ///
    /// If a service does not start; those that did are stopped again.
    pub async fn start(
        registry: &Resilience,
        settling: &Settling,
        lifetimes: Lifetimes,
    ) -> Result<Self, StartError> {
        let databases = tempfile::Builder::new().prefix("resilience-example-").tempdir()?;
        let file = |name: &str| databases.path().join(name);

        let account = Server::start(0, assembly::account(registry)).await?;
        let accounts = Accounts { account_url: account.base_url(), lifetimes };
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
        let database = file("payment.db");
        let app = assembly::payment(registry, &database, &providers, &accounts, settling).await?;
        let payment = Server::start(0, app).await?;
        let app = assembly::inventory(registry, &file("inventory.db"), &accounts).await?;
        let inventory = Server::start(0, app).await?;
        let mail = Server::start(0, assembly::mail(registry)).await?;
        let urls = OrderUrls {
            inventory_url: inventory.base_url(),
            payment_url: payment.base_url(),
            mail_url: mail.base_url(),
        };
        let app = assembly::order(registry, &file("order.db"), &urls, &accounts, settling).await?;
        let order = at_order.serve(app);
        Ok(Self { order, inventory, payment, provider, account, mail, databases })
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
        let callees = [self.inventory, self.payment, self.provider, self.account, self.mail];
        for server in std::iter::once(self.order).chain(callees) {
            server.stop().await?;
        }
        Ok(())
    }
}
