//! What generated code uses. Nothing here is meant to be written by hand, and all of it may change.

mod fallback;
mod kinds;
mod nothing;
mod outcome;
mod predicate;
mod probe;
mod slot;

pub use inventory;
#[cfg(feature = "macros")]
pub use resilience_macros::__resilience_composed;
pub use resilience_settings::Pattern;

pub use self::{
    fallback::{
        Answer, Answers, Awaited, Business, Distinct, ErrorAlone, Everything, Failed, Form,
        Handles, Identity, Immediate, IsDistinct, NoArguments, NoFallback, NoReceiver, Refusals,
        Response, Same, Takes, TakesErrorAlone, TakesMore, WithArguments, WithReceiver,
    },
    nothing::Nothing,
    outcome::{FromRefusal, Outcome, conclude, settled},
    predicate::{
        AboutError, AboutValue, Function, HowLong, NoFunction, about_error, about_value, how_long,
    },
    probe::{
        Carrier, DynError, FactsFn, KindsAndSource, KindsOnly, Opaque, PointsToError, Probe,
        SourceOnly, WrapsAnything, WrapsPointer,
    },
    slot::{Keep, Lend, Movable, Once, PerAttempt, Reusable, Slot, movable},
};
pub use crate::{
    error::CallError,
    idempotency_key::new_call,
    keyed::key::as_display,
    kind::DeclaredKinds,
    registry::call_site::{CallSite, InlineValue, LayerSpec, RegisteredSite, SiteSpec},
    rules::{Facts, Rules},
    stack::pass::Pass,
};

/// Registers a call site, so that the check at start knows it.
#[doc(hidden)]
#[macro_export]
macro_rules! __register {
    ($site:path) => {
        $crate::__private::inventory::submit! { $crate::__private::RegisteredSite(&$site) }
    };
}

pub use crate::{
    __declare_kinds as declare_kinds, __facts as facts, __identity as identity, __policy as policy,
    __register as register,
};
