//! The simulated payment provider as a process of its own.

use std::process::ExitCode;

use clap::Parser;
use examples::{
    assembly::{self, StartError},
    process::{self, Common},
};

/// The simulated payment provider: POST /charges, GET /ledger, PUT /faults
#[derive(Debug, Parser)]
#[command(version)]
struct Arguments {
    /// Port on 127.0.0.1; 0 takes a free one
    #[arg(long, default_value_t = 8083)]
    port: u16,
    #[command(flatten)]
    common: Common,
}

#[tokio::main]
async fn main() -> ExitCode {
    process::exit(run(Arguments::parse()).await)
}

async fn run(arguments: Arguments) -> Result<(), StartError> {
    let app = assembly::provider(&arguments.common.prepare()?);
    process::serve("pg", arguments.port, app).await
}
