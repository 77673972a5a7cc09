//! What generated code uses. Nothing here is meant to be written by hand, and all of it may change.

pub use inventory;
pub use resilience_settings::Pattern;

pub use crate::{
    kind::DeclaredKinds,
    registry::{CallSite, InlineValue, LayerSpec, RegisteredSite, SiteSpec},
    rules::{Facts, Rules},
    stack::Pass,
};

/// Registers a call site, so that the check at start knows it.
#[doc(hidden)]
#[macro_export]
macro_rules! __register {
    ($site:path) => {
        $crate::__private::inventory::submit! { $crate::__private::RegisteredSite(&$site) }
    };
}

pub use crate::__register as register;
