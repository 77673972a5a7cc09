//! The order service.

use std::process::ExitCode;

use examples::{order_process, process};

#[tokio::main]
async fn main() -> ExitCode {
    process::main(order_process::run).await
}
