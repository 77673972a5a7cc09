//! The simulated mail service as a process of its own.

use std::process::ExitCode;

use clap::Parser;
use examples::{
    assembly::{self, StartError},
    process::{self, Common},
};

/// The simulated mail service: POST /mails, GET /mails, PUT /faults
#[derive(Debug, Parser)]
#[command(version, mut_arg("port", |port| port.default_value("8085")))]
struct Arguments {
    #[command(flatten)]
    common: Common,
}

#[tokio::main]
async fn main() -> ExitCode {
    process::main(run).await
}

async fn run(arguments: Arguments) -> Result<(), StartError> {
    let app = async |registry: &_| Ok(assembly::mail(registry));
    arguments.common.serve("mail", arguments.common.loader(), app).await
}
