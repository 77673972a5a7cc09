//! The inventory service: what is in stock, and for whom it is kept.

mod domain;
mod errors;
mod http;
mod store;

pub use domain::{Release, Reservation};
pub use errors::StockError;
pub use http::routes;
pub use store::StockStore;
