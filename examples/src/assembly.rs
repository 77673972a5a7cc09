//! Each service, put together from its parts.

use std::{io, path::Path, time::Duration};

use clap::Args;
use resilience::{ConfigError, Resilience, rate_limiter::Scope};
use tokio_util::task::TaskTracker;

use crate::{
    access::{AccessGate, AccountClient, Lifetimes},
    account::{self, Directory},
    database::OpenError,
    inventory::{self, StockStore},
    mail::{self, Outbox},
    management::ManagementError,
    order::{self, InventoryClient, MailClient, OrderService, OrderStore, PaymentClient, Settler},
    payment::{self, PaymentService, PaymentStore, ProviderClient, Providers, Reconciler},
    peer::{BaseUrl, Peer},
    pg::{self, Ledger, WebhookPlan, Webhooks},
    web::{self, App, ListenError, Secret, UnfitSecret},
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
    /// The secret of the callbacks could be guessed.
    #[error(transparent)]
    Secret(#[from] UnfitSecret),
    /// A file cannot be written, or a task died.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// How payments whose outcome is unknown are settled.
#[derive(Debug, Clone)]
pub struct Settling {
    /// What the provider's callbacks are signed with; without it none is believed, and asking is the
    /// only way.
    pub secret: Option<Secret>,
    /// How long the pause is before it is asked again.
    pub every: Duration,
    /// When a payment that was requested and has no outcome was left by a process that died; longer
    /// than a provider is waited for.
    pub abandoned_after: Duration,
    /// When an order whose payment was not begun is withdrawn, as whoever placed it has left; longer than
    /// clients take to come back, and than the inventory is waited for.
    pub withdraw_after: Duration,
}

impl Default for Settling {
    /// No secret, 60 s, 10 s, and 10 min.
    fn default() -> Self {
        Self {
            secret: None,
            every: Duration::from_mins(1),
            abandoned_after: Duration::from_secs(10),
            withdraw_after: Duration::from_mins(10),
        }
    }
}

/// Where the payment providers are.
#[derive(Debug, Clone, Args)]
pub struct ProviderUrls {
    // Not required as it has a default.
    /// Base URL of the payment provider
    #[arg(long, value_name = "URL", required = false, default_value = "http://127.0.0.1:8083")]
    pub provider_url: BaseUrl,
    /// Base URL of a second provider, asked when the first one cannot be
    #[arg(long, value_name = "URL")]
    pub second_provider_url: Option<BaseUrl>,
    /// Base URL of a third provider, asked when neither of the others can be
    #[arg(long, value_name = "URL")]
    pub third_provider_url: Option<BaseUrl>,
}

impl ProviderUrls {
    fn clients(&self) -> Result<Providers, reqwest::Error> {
        let others = [("B", &self.second_provider_url), ("C", &self.third_provider_url)];
        let others = others.into_iter().filter_map(|(name, url)| {
            let peer = Peer::new(url.as_ref()?);
            Some(peer.map(|peer| ProviderClient::other(name, peer)))
        });
        Ok(Providers {
            first: ProviderClient::first("A", Peer::new(&self.provider_url)?),
            others: others.collect::<Result<_, _>>()?,
        })
    }
}

/// Where the account service is, and how long its answers are good for.
#[derive(Debug, Clone, Args)]
pub struct Accounts {
    // Not required as it has a default.
    /// Base URL of the account service
    #[arg(long, value_name = "URL", required = false, default_value = "http://127.0.0.1:8084")]
    pub account_url: BaseUrl,
    /// How long its answers are good for.
    #[arg(skip)]
    pub lifetimes: Lifetimes,
}

impl Accounts {
    fn gate(&self) -> Result<AccessGate, reqwest::Error> {
        let account = AccountClient::new(Peer::new(&self.account_url)?);
        Ok(AccessGate::new(account, self.lifetimes))
    }
}

/// Puts together the account service, in which everybody may use the system.
pub fn account(registry: &Resilience) -> App {
    web::finish(account::routes(Directory::default()), registry).into()
}

/// Puts together the mail service.
pub fn mail(registry: &Resilience) -> App {
    web::finish(mail::routes(Outbox::default()), registry).into()
}

/// Where the services are that the order service calls.
#[derive(Debug, Clone, Args)]
pub struct OrderUrls {
    // Not required as they have defaults.
    /// Base URL of the inventory service
    #[arg(long, value_name = "URL", required = false, default_value = "http://127.0.0.1:8081")]
    pub inventory_url: BaseUrl,
    /// Base URL of the payment service
    #[arg(long, value_name = "URL", required = false, default_value = "http://127.0.0.1:8082")]
    pub payment_url: BaseUrl,
    /// Base URL of the mail service
    #[arg(long, value_name = "URL", required = false, default_value = "http://127.0.0.1:8085")]
    pub mail_url: BaseUrl,
}

/// Puts together the order service.
///
/// # Errors
///
/// If its database or its clients cannot be set up.
pub async fn order(
    registry: &Resilience,
    database: &Path,
    urls: &OrderUrls,
    accounts: &Accounts,
    settling: &Settling,
) -> Result<App, StartError> {
    let store = OrderStore::open(database).await?;
    let connections = Some(store.connections());
    let inventory = InventoryClient::new(Peer::new(&urls.inventory_url)?);
    let payment = PaymentClient::new(Peer::new(&urls.payment_url)?);
    let mails = MailClient::new(Peer::new(&urls.mail_url)?);
    let service = OrderService::new(store, inventory, payment, mails, registry)?;
    if service.scope() == Scope::Local {
        tracing::info!(
            "POST /orders/global is limited in this process alone; --redis has all share it"
        );
    }
    let settler = Settler::new(service.clone(), settling.withdraw_after);
    let sweeper = settler.start(registry, settling.every);
    let beside = service.beside().clone();
    let routes = order::routes(service, settling.secret.clone(), accounts.gate()?);
    let routes = web::finish(routes, registry);
    Ok(App { routes, sweeper: Some(sweeper), beside, connections })
}

/// Puts together the inventory service.
///
/// # Errors
///
/// If its database or its client cannot be set up.
pub async fn inventory(
    registry: &Resilience,
    database: &Path,
    accounts: &Accounts,
) -> Result<App, StartError> {
    let store = StockStore::open(database).await?;
    let connections = Some(store.connections());
    let routes = web::finish(inventory::routes(store, accounts.gate()?), registry);
    Ok(App { connections, ..App::from(routes) })
}

/// Puts together the payment service.
///
/// # Errors
///
/// If its database or its clients cannot be set up.
pub async fn payment(
    registry: &Resilience,
    database: &Path,
    providers: &ProviderUrls,
    accounts: &Accounts,
    settling: &Settling,
) -> Result<App, StartError> {
    let store = PaymentStore::open(database).await?;
    let connections = Some(store.connections());
    let service = PaymentService::new(store, providers.clients()?, registry.clone());
    let reconciler = Reconciler::new(service.clone(), settling.abandoned_after);
    let sweeper = reconciler.start(registry, settling.every);
    let beside = service.beside().clone();
    let routes = payment::routes(service, settling.secret.clone(), accounts.gate()?);
    let routes = web::finish(routes, registry);
    Ok(App { routes, sweeper: Some(sweeper), beside, connections })
}

/// Puts together the simulated payment provider, which reports to `POST /payments/callback` below
/// `callbacks` if it has a secret to sign with.
///
/// # Errors
///
/// If its client cannot be set up.
pub fn provider(
    registry: &Resilience,
    callbacks: &BaseUrl,
    secret: Option<Secret>,
    plan: WebhookPlan,
) -> Result<App, StartError> {
    let peer = Peer::new(callbacks)?;
    let beside = TaskTracker::new();
    let webhooks =
        secret.map(|secret| Webhooks::new(peer, secret, registry.clone(), plan, beside.clone()));
    let routes = web::finish(pg::routes(Ledger::default(), webhooks), registry);
    Ok(App { beside, ..App::from(routes) })
}
