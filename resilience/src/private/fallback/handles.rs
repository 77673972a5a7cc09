//! Which errors a fallback handles.

use std::marker::PhantomData;

use crate::{
    BulkheadFull, CallError, CallNotPermitted, Error, MaxRetriesExceeded, RequestNotPermitted,
    TimedOut,
};

/// An error type that a fallback may take: which of the call's errors it stands for.
#[diagnostic::on_unimplemented(
    message = "a fallback of this function cannot handle `{Self}`",
    label = "takes `{Self}` as its error",
    note = "its last argument must be the error, and decides what it handles: `CallError<{E}>` everything, \
            `resilience::Error` refusals, `{E}` business errors, `CallNotPermitted`, \
            `RequestNotPermitted`, `BulkheadFull`, `TimedOut` or `MaxRetriesExceeded` just that"
)]
pub trait Handles<Kind, E, Identity>: Sized {
    /// Whether the call's error is of this kind.
    fn fits(error: &CallError<E>) -> bool;

    /// This error, or the call's error unchanged when it is of another kind.
    fn select(error: CallError<E>) -> Result<Self, CallError<E>>;
}

/// Marks an error type that stands for every error.
#[derive(Debug)]
pub struct Everything;

/// Marks an error type of the library.
#[derive(Debug)]
pub struct Refusals;

/// Marks the function's own error type.
#[derive(Debug)]
pub struct Business;

/// The function's error type is not [`Error`]: the two cannot be mixed up.
#[derive(Debug, Clone, Copy)]
pub struct Distinct;

/// The function's error type is [`Error`]: a fallback that takes it handles the stack's refusals.
#[derive(Debug, Clone, Copy)]
pub struct Same;

#[diagnostic::do_not_recommend]
impl<E, Identity> Handles<Everything, E, Identity> for CallError<E> {
    fn fits(_error: &CallError<E>) -> bool {
        true
    }

    fn select(error: CallError<E>) -> Result<Self, CallError<E>> {
        Ok(error)
    }
}

#[diagnostic::do_not_recommend]
impl<E> Handles<Business, E, Distinct> for E {
    fn fits(error: &CallError<E>) -> bool {
        matches!(error, CallError::Inner(_))
    }

    fn select(error: CallError<E>) -> Result<Self, CallError<E>> {
        match error {
            CallError::Inner(error) => Ok(error),
            refusal @ CallError::Resilience(_) => Err(refusal),
        }
    }
}

#[diagnostic::do_not_recommend]
impl<E, Identity> Handles<Refusals, E, Identity> for Error {
    fn fits(error: &CallError<E>) -> bool {
        matches!(error, CallError::Resilience(_))
    }

    fn select(error: CallError<E>) -> Result<Self, CallError<E>> {
        match error {
            CallError::Resilience(refusal) => Ok(refusal),
            inner @ CallError::Inner(_) => Err(inner),
        }
    }
}

macro_rules! refusals {
    ($($refusal:ident)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<E, Identity> Handles<Refusals, E, Identity> for $refusal {
            fn fits(error: &CallError<E>) -> bool {
                matches!(error, CallError::Resilience(Error::$refusal(_)))
            }

            fn select(error: CallError<E>) -> Result<Self, CallError<E>> {
                match error {
                    CallError::Resilience(Error::$refusal(refusal)) => Ok(refusal),
                    other => Err(other),
                }
            }
        }
    )*};
}

refusals!(CallNotPermitted RequestNotPermitted BulkheadFull TimedOut MaxRetriesExceeded);

/// Asks whether a function's error type is [`Error`]; see `__identity!`. The answer is a method's, and
/// has a name that no extension trait of the user's has.
#[derive(Debug)]
pub struct Identity<E>(PhantomData<fn() -> E>);

impl<E> Identity<E> {
    /// The question.
    #[allow(clippy::new_without_default)] // only the macros ask
    pub fn new() -> Self {
        Self(PhantomData)
    }
}

impl Identity<Error> {
    /// An inherent method wins over [`IsDistinct`].
    pub fn __resilience_identity(&self) -> Same {
        Same
    }
}

/// The answer for every other type.
pub trait IsDistinct {
    /// The error type is the user's.
    fn __resilience_identity(&self) -> Distinct {
        Distinct
    }
}

impl<E> IsDistinct for Identity<E> {}

/// Whether an error type is [`Error`](crate::Error).
#[doc(hidden)]
#[macro_export]
macro_rules! __identity {
    ($error:ty) => {{
        #[allow(unused_imports)]
        use $crate::__private::IsDistinct as _;
        $crate::__private::Identity::<$error>::new().__resilience_identity()
    }};
}
