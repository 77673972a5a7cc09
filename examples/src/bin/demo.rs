//! The demo: starts the whole system, lets its parts fail, and checks what was promised.

use std::process::ExitCode;

use clap::Parser;
use examples::demo::{self, Options};

#[tokio::main]
async fn main() -> ExitCode {
    match demo::run(&Options::parse()).await {
        Ok(report) if report.kept => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}
