//! The simulated payment provider as a process of its own.

use std::process::ExitCode;

use clap::Parser;
use examples::{
    assembly::{self, StartError},
    process::{self, Common},
};

/// The simulated payment provider: POST /charges, GET /ledger, PUT /faults
#[derive(Debug, Parser)]
#[command(version, mut_arg("port", |port| port.default_value("8083")))]
struct Arguments {
    #[command(flatten)]
    common: Common,
}

#[tokio::main]
async fn main() -> ExitCode {
    process::main(run).await
}

async fn run(arguments: Arguments) -> Result<(), StartError> {
    let app = async |registry: &_| Ok(assembly::provider(registry));
    arguments.common.serve("pg", app).await
}
