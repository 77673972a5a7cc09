//! One call for all that want the same at the same time.
//!
//! A double click, a message that was delivered twice, a hundred requests that miss the same entry of
//! a cache: the first call with a key runs, and the others have its result, or are told that it is
//! under way.
//!
//! With a store (feature `redis`) that holds for all processes that share it: the first one owns the key
//! by a token that nobody else has, so that only it can let go of it, and for a limited time, so that a
//! crash frees it. A result stays within its process: callers elsewhere are told that the call is
//! under way.

mod config;
mod flight;
mod lock;
mod refused;
#[allow(clippy::module_inception)] // its file is named for what is in it
mod single_flight;

pub use config::{SingleFlightConfig, SingleFlightConfigBuilder};
pub use refused::FlightRefused;
pub use single_flight::SingleFlight;
