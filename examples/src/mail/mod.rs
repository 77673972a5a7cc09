//! The mail service, simulated: it takes mails for customers, and misbehaves on request.

mod http;
mod outbox;

pub use http::routes;
pub use outbox::{Mail, Outbox, Sent};
