//! The payment service as a process of its own.

use std::{process::ExitCode, time::Duration};

use clap::Parser;
use examples::{
    assembly::{self, Accounts, ProviderUrls, Settling, StartError},
    process::{self, Common, Database, Settle},
};

/// The payment service: POST /payments, GET /payments/{key}
#[derive(Debug, Parser)]
#[command(version, mut_arg("port", |port| port.default_value("8082")))]
struct Arguments {
    #[command(flatten)]
    providers: ProviderUrls,
    #[command(flatten)]
    settle: Settle,
    /// Seconds after which a payment without any outcome was left by a process that died
    #[arg(long, value_name = "SECONDS", default_value_t = 10, value_parser = process::seconds())]
    abandoned_after: u64,
    #[command(flatten)]
    accounts: Accounts,
    #[command(flatten)]
    database: Database,
    #[command(flatten)]
    common: Common,
}

#[tokio::main]
async fn main() -> ExitCode {
    process::main(run).await
}

async fn run(arguments: Arguments) -> Result<(), StartError> {
    let database = arguments.database.file()?;
    let abandoned_after = Duration::from_secs(arguments.abandoned_after);
    let settling = Settling { abandoned_after, ..arguments.settle.settling()? };
    let app = async |registry: &_| {
        let (providers, accounts) = (&arguments.providers, &arguments.accounts);
        assembly::payment(registry, database.path(), providers, accounts, &settling).await
    };
    arguments.common.serve("payment", arguments.common.loader(), app).await
}
