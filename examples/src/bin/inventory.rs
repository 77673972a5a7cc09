//! The inventory service as a process of its own.

use std::process::ExitCode;

use clap::Parser;
use examples::{
    assembly::{self, StartError},
    process::{self, Common, Database},
};

/// The inventory service: POST /inventory/reserve, POST /inventory/release, PUT /faults
#[derive(Debug, Parser)]
#[command(version)]
struct Arguments {
    /// Port on 127.0.0.1; 0 takes a free one
    #[arg(long, default_value_t = 8081)]
    port: u16,
    #[command(flatten)]
    database: Database,
    #[command(flatten)]
    common: Common,
}

#[tokio::main]
async fn main() -> ExitCode {
    process::exit(run(Arguments::parse()).await)
}

async fn run(arguments: Arguments) -> Result<(), StartError> {
    let registry = arguments.common.prepare()?;
    let database = arguments.database.file()?;
    let app = assembly::inventory(&registry, database.path()).await?;
    process::serve("inventory", arguments.port, app).await
}
