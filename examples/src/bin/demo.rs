//! The demo: starts the whole system, lets its parts fail, and checks what was promised.

use std::{env, path::Path, process::ExitCode};

use clap::Parser;
use examples::{
    demo::{self, ORDER, Options},
    order_process, process,
};

#[tokio::main]
async fn main() -> ExitCode {
    // Scene 8 needs order processes.
    let name = env::args_os().next().unwrap_or_default();
    if Path::new(&name).file_name().is_some_and(|name| name == ORDER) {
        return process::main(order_process::run).await;
    }
    match demo::run(&Options::parse()).await {
        Ok(report) => ExitCode::from(report.exit_status()),
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}
