//! The order service as a process of its own.

use std::time::Duration;

use clap::Parser;

use crate::{
    assembly::{self, Accounts, OrderUrls, Settling, StartError},
    process::{self, Common, Database, Settle, Shared},
};

/// The order service: POST /orders, GET /orders/{id}, POST /orders/{id}/payment, GET /products
#[derive(Debug, Parser)]
#[command(version, mut_arg("port", |port| port.default_value("8080")))]
pub struct Arguments {
    #[command(flatten)]
    urls: OrderUrls,
    #[command(flatten)]
    settle: Settle,
    /// Seconds after which an order whose payment was not begun is withdrawn, as its client has left;
    /// must be longer than the 30 s that the inventory is waited for
    #[arg(long, value_name = "SECONDS", default_value_t = 600, value_parser = process::seconds())]
    withdraw_after: u64,
    #[command(flatten)]
    shared: Shared,
    #[command(flatten)]
    accounts: Accounts,
    #[command(flatten)]
    database: Database,
    #[command(flatten)]
    common: Common,
}

/// Runs it until it is told to end.
///
/// # Errors
///
/// If it does not start.
pub async fn run(arguments: Arguments) -> Result<(), StartError> {
    let database = arguments.database.file()?;
    let withdraw_after = Duration::from_secs(arguments.withdraw_after);
    let settling = Settling { withdraw_after, ..arguments.settle.settling()? };
    let app = async |registry: &_| {
        let (urls, accounts) = (&arguments.urls, &arguments.accounts);
        assembly::order(registry, database.path(), urls, accounts, &settling).await
    };
    let loader = arguments.shared.declare(arguments.common.loader());
    arguments.common.serve("order", loader, app).await
}
