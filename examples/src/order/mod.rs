//! The order service: the customer's side of the system.

mod catalogue;
mod clicks;
mod confirmations;
mod domain;
mod errors;
mod http;
mod inventory_client;
mod mail_client;
mod payment_client;
mod service;
mod settler;
mod store;
mod withdrawal;

pub use catalogue::Product;
pub use domain::{Order, OrderRequest, OrderStatus, PaymentState};
pub use errors::OrderError;
pub use http::routes;
pub use inventory_client::{InventoryClient, InventoryError};
pub use mail_client::{MailClient, MailError};
pub use payment_client::{PaymentCallError, PaymentClient};
pub use service::OrderService;
pub use settler::Settler;
pub use store::OrderStore;
