//! The payment service as a process of its own.

use std::process::ExitCode;

use clap::Parser;
use examples::{
    assembly::{self, StartError},
    process::{self, Common, Database},
};

/// The payment service: POST /payments, GET /payments/{key}
#[derive(Debug, Parser)]
#[command(version)]
struct Arguments {
    /// Port on 127.0.0.1; 0 takes a free one
    #[arg(long, default_value_t = 8082)]
    port: u16,
    /// Base URL of the payment provider
    #[arg(long, value_name = "URL", default_value = "http://127.0.0.1:8083")]
    provider_url: String,
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
    let app = assembly::payment(&registry, database.path(), &arguments.provider_url).await?;
    process::serve("payment", arguments.port, app).await
}
