//! The payment service as a process of its own.

use std::process::ExitCode;

use clap::Parser;
use examples::{
    assembly::{self, StartError},
    peer::BaseUrl,
    process::{self, Common, Database},
};

/// The payment service: POST /payments, GET /payments/{key}
#[derive(Debug, Parser)]
#[command(version, mut_arg("port", |port| port.default_value("8082")))]
struct Arguments {
    /// Base URL of the payment provider
    #[arg(long, value_name = "URL", default_value = "http://127.0.0.1:8083")]
    provider_url: BaseUrl,
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
        assembly::payment(registry, database.path(), &arguments.provider_url).await
    };
    arguments.common.serve("payment", app).await
}
