//! The order service as a process of its own.

use std::process::ExitCode;

use clap::Parser;
use examples::{
    assembly::{self, StartError},
    process::{self, Common, Database},
};

/// The order service: POST /orders, GET /orders/{id}, GET /products
#[derive(Debug, Parser)]
#[command(version)]
struct Arguments {
    /// Port on 127.0.0.1; 0 takes a free one
    #[arg(long, default_value_t = 8080)]
    port: u16,
    /// Base URL of the inventory service
    #[arg(long, value_name = "URL", default_value = "http://127.0.0.1:8081")]
    inventory_url: String,
    /// Base URL of the payment service
    #[arg(long, value_name = "URL", default_value = "http://127.0.0.1:8082")]
    payment_url: String,
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
    let (inventory, payment) = (&arguments.inventory_url, &arguments.payment_url);
    let app = assembly::order(&registry, database.path(), inventory, payment).await?;
    process::serve("order", arguments.port, app).await
}
