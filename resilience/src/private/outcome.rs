//! From what the stack returns to what the user's function returns.

use std::{ops::ControlFlow, time::Duration};

use crate::{CallError, Error};

/// What a protected function returns: a `Result`, under whatever alias.
///
/// The macros see tokens, not types; this tells them value and error behind an alias.
#[diagnostic::on_unimplemented(
    message = "a protected function returns `Result<T, E>`, not `{Self}`",
    label = "not a `Result`",
    note = "refusals and timeouts come back as `Err`, so `E` must be `From<resilience::Error>`"
)]
pub trait Outcome {
    /// `T` of `Result<T, E>`.
    type Value;
    /// `E` of `Result<T, E>`.
    type Error;
}

impl<T, E> Outcome for Result<T, E> {
    type Value = T;
    type Error = E;
}

/// An error type that can carry the library's refusals.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot carry a refusal: it does not implement `From<resilience::Error>`",
    label = "the error type of this function needs `From<resilience::Error>`",
    note = "with thiserror, add a variant: `#[error(transparent)] Refused(#[from] resilience::Error)`",
    note = "`anyhow::Error` and `Box<dyn std::error::Error + Send + Sync>` work as they are"
)]
pub trait FromRefusal: Sized {
    /// Wraps a refusal.
    fn from_refusal(refusal: Error) -> Self;
}

#[diagnostic::do_not_recommend]
impl<E: From<Error>> FromRefusal for E {
    fn from_refusal(refusal: Error) -> Self {
        E::from(refusal)
    }
}

/// The result of the stack as the user's function returns it.
pub fn conclude<T, E: FromRefusal>(result: Result<T, CallError<E>>) -> Result<T, E> {
    result.map_err(into_error)
}

pub(super) fn into_error<E: FromRefusal>(error: CallError<E>) -> E {
    match error {
        CallError::Inner(error) => error,
        CallError::Resilience(refusal) => E::from_refusal(refusal),
    }
}

/// The verdict on a call that is not retried.
///
/// # Panics
///
/// When it asks for another attempt, which only a stack with a retry can do: a bug in this crate.
pub fn settled<R>(verdict: ControlFlow<R, Duration>) -> R {
    match verdict {
        ControlFlow::Break(result) => result,
        ControlFlow::Continue(_) => panic!("a stack without a retry asked for another attempt"),
    }
}
