//! The composition: retry( circuit breaker( rate limiter( time limiter( bulkhead( body ))))).
//!
//! The order is written once, in [`Pass`], and the attributes, a [`Stack`] and tests all go through
//! it. It puts every timeout where the circuit breaker sees it, gives each attempt of a retry a
//! full pass through the other layers, and holds no permit while a retry waits.

mod body;
mod builder;
mod layers;
mod pass;
mod protect;
#[allow(clippy::module_inception)] // where one looks for `Stack`
mod stack;

pub use builder::StackBuilder;
pub use stack::Stack;

pub(crate) use layers::{Handle, Layers};

#[doc(hidden)]
pub use pass::Pass;

use protect::Protect;
