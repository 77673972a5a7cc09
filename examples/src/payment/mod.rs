//! The payment service: it asks the provider and remembers what is known about each payment.

mod domain;
mod errors;
mod http;
mod provider_client;
mod service;
mod store;

pub use domain::{Payment, PaymentRequest, PaymentStatus};
pub use errors::PaymentError;
pub use http::routes;
pub use provider_client::{ProviderClient, ProviderError, Verdict};
pub use service::PaymentService;
pub use store::{Created, PaymentStore};
