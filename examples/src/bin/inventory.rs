//! The inventory service as a process of its own.

use std::process::ExitCode;

use clap::Parser;
use examples::{
    assembly::{self, Accounts, StartError},
    process::{self, Common, Database},
};

/// The inventory service: POST /inventory/reserve, POST /inventory/release, PUT /faults
#[derive(Debug, Parser)]
#[command(version, mut_arg("port", |port| port.default_value("8081")))]
struct Arguments {
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
    let app = async |registry: &_| {
        assembly::inventory(registry, database.path(), &arguments.accounts).await
    };
    arguments.common.serve("inventory", arguments.common.loader(), app).await
}
