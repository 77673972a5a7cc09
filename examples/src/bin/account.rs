//! The simulated account service as a process of its own.

use std::process::ExitCode;

use clap::Parser;
use examples::{
    assembly::{self, StartError},
    process::{self, Common},
};

/// The simulated account service: GET /internal/user/{id}/has-service-role, PUT /users/{id}, PUT /faults
#[derive(Debug, Parser)]
#[command(version, mut_arg("port", |port| port.default_value("8084")))]
struct Arguments {
    #[command(flatten)]
    common: Common,
}

#[tokio::main]
async fn main() -> ExitCode {
    process::main(run).await
}

async fn run(arguments: Arguments) -> Result<(), StartError> {
    let app = async |registry: &_| Ok(assembly::account(registry));
    arguments.common.serve("account", arguments.common.loader(), app).await
}
