//! The simulated payment provider as a process of its own.

use std::process::ExitCode;

use clap::Parser;
use examples::{
    assembly::{self, StartError},
    peer::BaseUrl,
    pg::WebhookPlan,
    process::{self, Common},
    web::Secret,
};

/// The simulated payment provider: POST /charges, GET /ledger, PUT /faults
#[derive(Debug, Parser)]
#[command(version, mut_arg("port", |port| port.default_value("8083")))]
struct Arguments {
    /// Base URL of the service that is told of decisions, if there is a secret to sign with
    #[arg(long, value_name = "URL", default_value = "http://127.0.0.1:8080")]
    callback_url: BaseUrl,
    #[command(flatten)]
    common: Common,
}

#[tokio::main]
async fn main() -> ExitCode {
    process::main(run).await
}

async fn run(arguments: Arguments) -> Result<(), StartError> {
    let (secret, plan) = (Secret::from_env()?, WebhookPlan { delay_ms: Some(1_000) });
    let app =
        async |registry: &_| assembly::provider(registry, &arguments.callback_url, secret, plan);
    arguments.common.serve("pg", arguments.common.loader(), app).await
}
