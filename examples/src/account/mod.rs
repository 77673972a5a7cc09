//! The account service: which users exist, and which of them may use the system.
//!
//! Simulated, as the provider is: everybody may until told otherwise, and it misbehaves on request.

mod directory;
mod http;

pub use directory::{Directory, Questions};
pub use http::{Role, UNKNOWN_USER, Version, routes};
