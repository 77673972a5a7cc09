//! Compiled under edition 2021, with `resilience` renamed to `guard`: what an attribute writes must
//! not depend on either.

/// A crate that passes `resilience` on under a path of its own.
pub mod vendored {
    pub use guard as resilience;
}
