//! What the HTTP side of every service has in common.

mod body;
mod error;
mod health;
mod idempotency;
mod path;
mod server;
mod signature;

pub(crate) use body::parsed;
pub use body::{Body, Json, MAX_BODY_BYTES};
pub use error::ApiError;
pub use health::health;
pub use idempotency::{IDEMPOTENCY_KEY, idempotency_key, optional_idempotency_key};
pub use path::Path;
pub use server::{App, ListenError, Port, Server, finish};
pub use signature::{CALLBACK_SECRET, SIGNATURE, Secret, UnfitSecret, signed};
