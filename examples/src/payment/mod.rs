//! The payment service: it asks the provider and remembers what is known about each payment.

mod domain;
mod errors;
mod http;
mod provider_client;
mod reconciler;
mod service;
mod store;

pub use domain::{Callback, Payment, PaymentRequest, PaymentStatus, SettledBy};
pub use errors::PaymentError;
pub use http::routes;
pub use provider_client::{Charge, ProviderClient, ProviderError, Verdict};
pub use reconciler::Reconciler;
pub use service::{PaymentService, Providers};
pub use store::{Created, PaymentStore, Settlement};
