//! Who may use the services: a gate in front of them that fails closed.
//!
//! The account service says who may. What it said is good for a while, so that an outage of it does not
//! stop those whom it let in just before; what it did not say is never taken for a yes, nor for a no. A
//! request that cannot be decided is told so and has not reached the service behind the gate.
//!
//! One question fails open, on purpose: whether what it said is still the last word. Without an answer
//! yesterday's permission stands, for no longer than it is good for anyway, and every response says so.

mod account_client;
mod errors;
mod freshness;
mod gate;
mod layer;
mod lifetimes;
mod user;

pub use account_client::{AccountClient, AccountError};
pub use errors::{ACCESS_UNKNOWN, FORBIDDEN, Untold};
pub use gate::AccessGate;
pub use layer::{FRESHNESS, user_in_body, user_in_header};
pub use lifetimes::Lifetimes;
pub use user::{USER, UserId};
