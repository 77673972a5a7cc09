//! What subscribers of `tracing` see of calls: a span for each, and refusals.
//!
//! Nothing that a call carries is in it, such as arguments, keys and the texts of errors. A subscriber
//! only watches: its panics are swallowed, and it is never asked under the lock of an instance. With
//! no subscriber a call pays a relaxed load; without the feature `tracing` everything here is empty.

mod around;
mod blocking;
mod in_span;
mod names;
#[cfg(not(feature = "tracing"))]
mod off;
#[cfg(feature = "tracing")]
mod outcome;
#[cfg(feature = "tracing")]
mod refusal_log;
#[cfg(feature = "tracing")]
mod span;

#[cfg(not(feature = "tracing"))]
pub(crate) use self::off::{CallSpan, RefusalLog};
pub(crate) use self::{
    blocking::blocking_call,
    in_span::InSpan,
    names::{Named, Names},
};
#[cfg(feature = "tracing")]
pub(crate) use self::{refusal_log::RefusalLog, span::CallSpan};
