//! The outside payment provider, simulated.
//!
//! It honours idempotency keys, books a charge before it answers, reports its decisions by itself, and
//! misbehaves on request.

mod http;
mod ledger;
mod webhooks;

pub use http::routes;
pub use ledger::{Charge, Ledger, NotBooked, Verdict};
pub use webhooks::{WebhookPlan, Webhooks};
