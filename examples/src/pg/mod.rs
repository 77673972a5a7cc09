//! The outside payment provider, simulated.
//!
//! It honours idempotency keys, books a charge before it answers, and misbehaves on request.

mod http;
mod ledger;

pub use http::routes;
pub use ledger::{Charge, Ledger, Verdict};
