//! Typed fallbacks: from the path that the user wrote to the call that it asks for.
//!
//! Three questions are answered by the fallback's type alone, each by one trait: which arguments
//! it takes ([`Takes`]), which errors it handles ([`Handles`]), and whether it is async
//! ([`Answers`]). Each has a marker parameter, so that the implementations do not overlap; the
//! compiler finds the one marker that fits.

use std::{
    future::{Future, Pending},
    marker::PhantomData,
};

use super::{
    outcome::{FromRefusal, into_error},
    slot::{Keep, Slot},
};
use crate::{
    BulkheadFull, CallError, CallNotPermitted, Error, MaxRetriesExceeded, RequestNotPermitted,
    TimedOut,
};

/// A call that failed, with what its fallbacks may take.
#[derive(Debug)]
pub struct Failed<S, A, T, E> {
    receiver: S,
    arguments: A,
    error: CallError<E>,
    value: PhantomData<fn() -> T>,
}

/// Stands for the receiver of a function that has none, or none left.
#[derive(Debug)]
pub struct NoReceiver;

/// Stands for arguments that the fallback cannot have, because the body may have moved them away.
#[derive(Debug)]
pub struct NoArguments;

impl<S, A, T, E> Failed<S, A, T, E> {
    /// A call that failed; `receiver` and `arguments` are [`Slot`]s or stand-ins.
    pub fn new<R>(_function: PhantomData<R>, receiver: S, arguments: A, error: CallError<E>) -> Self
    where
        R: super::Outcome<Value = T, Error = E>,
    {
        Self { receiver, arguments, error, value: PhantomData }
    }

    /// What the function returns when no fallback handles the error.
    ///
    /// # Errors
    ///
    /// Always: the error as it was.
    pub fn unhandled(self) -> Result<T, E>
    where
        E: FromRefusal,
    {
        Err(into_error(self.error))
    }

    /// Whether `fallback` handles this error. It takes itself by value: what has been borrowed
    /// once is kept in the caller's future to the end, moved or not.
    pub fn fits<F, Form, X, Kind, Identity>(
        self,
        _identity: Identity,
        _fallback: &F,
    ) -> (bool, Self)
    where
        F: Takes<Form, S, A, X>,
        X: Handles<Kind, E, Identity>,
    {
        (X::fits(&self.error), self)
    }

    /// Calls `fallback` if it handles this error.
    ///
    /// The future that may come out is the fallback's own, whatever it took to find it: an opaque
    /// type would carry the error type along, whose lifetimes a task cannot prove anything about.
    pub fn respond<F, Form, X, Kind, Mode, Identity>(
        self,
        _identity: Identity,
        fallback: F,
    ) -> Response<Result<T, E>, <F::Output as Answers<Mode>>::Future, Self>
    where
        F: Takes<Form, S, A, X>,
        X: Handles<Kind, E, Identity>,
        F::Output: Answers<Mode, Value = T, Error = E>,
    {
        match X::select(self.error) {
            Ok(error) => match fallback.call(self.receiver, self.arguments, error).answer() {
                Answer::Ready(result) => Response::Ready(result),
                Answer::Pending(future) => Response::Pending(future),
            },
            Err(error) => Response::Unhandled(Self { error, ..self }),
        }
    }
}

/// What comes of a fallback. Nothing here is kept while the future runs, so neither value nor error
/// of the function need be `Send` for its future to be.
#[derive(Debug)]
pub enum Response<R, F, N> {
    /// A sync fallback's result.
    Ready(R),
    /// An async fallback's future.
    Pending(F),
    /// The fallback does not handle this error.
    Unhandled(N),
}

/// A fallback that can be called with the error `X`, and with receiver `S` and arguments `A` as
/// far as it takes them.
#[diagnostic::on_unimplemented(
    message = "this fallback does not fit the function's arguments",
    label = "takes other arguments than the function",
    note = "a fallback takes the error alone; or the function's arguments, then the error; or its \
            receiver, its arguments, then the error",
    note = "the error is a `CallError<E>`, a `resilience::Error`, the function's `E`, or one of \
            the structs such as `TimedOut`",
    note = "where the function's value may borrow from a `&mut` argument, only the error is left"
)]
pub trait Takes<Form, S, A, X> {
    /// What the fallback returns, a future if it is async.
    type Output;

    /// Calls the fallback.
    fn call(self, receiver: S, arguments: A, error: X) -> Self::Output;
}

/// Marks a fallback that takes the error alone.
#[derive(Debug)]
pub struct ErrorAlone;

/// Marks a fallback that takes the arguments and the error.
#[derive(Debug)]
pub struct WithArguments;

/// Marks a fallback that takes receiver, arguments and error.
#[derive(Debug)]
pub struct WithReceiver;

#[diagnostic::do_not_recommend]
impl<F, R, S, A, X> Takes<ErrorAlone, S, A, X> for F
where
    F: FnOnce(X) -> R,
{
    type Output = R;

    fn call(self, _receiver: S, _arguments: A, error: X) -> R {
        self(error)
    }
}

macro_rules! arity {
    ($($A:ident)*) => {
        #[diagnostic::do_not_recommend]
        impl<F, R, S, $($A,)* X> Takes<WithReceiver, Slot<S>, ($(Slot<$A>,)*), X> for F
        where
            F: FnOnce(S, $($A,)* X) -> R,
        {
            type Output = R;

            #[allow(non_snake_case)]
            fn call(self, receiver: Slot<S>, ($($A,)*): ($(Slot<$A>,)*), error: X) -> R {
                self(receiver.into_inner(), $($A.into_inner(),)* error)
            }
        }

        arity!(@arguments $($A)*);
    };
    // Without arguments this form would be the error alone.
    (@arguments) => {};
    (@arguments $($A:ident)+) => {
        #[diagnostic::do_not_recommend]
        impl<F, R, S, $($A,)* X> Takes<WithArguments, S, ($(Slot<$A>,)*), X> for F
        where
            F: FnOnce($($A,)* X) -> R,
        {
            type Output = R;

            #[allow(non_snake_case)]
            fn call(self, _receiver: S, ($($A,)*): ($(Slot<$A>,)*), error: X) -> R {
                self($($A.into_inner(),)* error)
            }
        }
    };
}

arity!();
arity!(A1);
arity!(A1 A2);
arity!(A1 A2 A3);
arity!(A1 A2 A3 A4);
arity!(A1 A2 A3 A4 A5);
arity!(A1 A2 A3 A4 A5 A6);
arity!(A1 A2 A3 A4 A5 A6 A7);
arity!(A1 A2 A3 A4 A5 A6 A7 A8);
arity!(A1 A2 A3 A4 A5 A6 A7 A8 A9);
arity!(A1 A2 A3 A4 A5 A6 A7 A8 A9 A10);
arity!(A1 A2 A3 A4 A5 A6 A7 A8 A9 A10 A11);
arity!(A1 A2 A3 A4 A5 A6 A7 A8 A9 A10 A11 A12);

/// An error type that a fallback may take: which of the call's errors it stands for.
#[diagnostic::on_unimplemented(
    message = "a fallback of this function cannot handle `{Self}`",
    label = "takes `{Self}` as its error",
    note = "its last argument decides what it handles: `CallError<{E}>` everything, \
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

/// What a fallback returns: the function's `Result`, or a future of it.
#[diagnostic::on_unimplemented(
    message = "a fallback returns the function's `Result`, sync or async, not `{Self}`",
    label = "returns something else: `{Self}`"
)]
pub trait Answers<Mode> {
    /// `T` of the `Result`.
    type Value;

    /// `E` of the `Result`.
    type Error;

    /// The future, if it is one. It has a name, so that it is `Send` when it can be.
    type Future: Future<Output = Result<Self::Value, Self::Error>>;

    /// Tells results from futures.
    fn answer(self) -> Answer<Result<Self::Value, Self::Error>, Self::Future>;
}

/// A fallback's answer, or the future of it.
#[derive(Debug)]
pub enum Answer<R, F> {
    /// The answer.
    Ready(R),
    /// Its future.
    Pending(F),
}

/// Marks a fallback that is not async.
#[derive(Debug)]
pub struct Immediate;

/// Marks an async fallback.
#[derive(Debug)]
pub struct Awaited;

#[diagnostic::do_not_recommend]
impl<T, E> Answers<Immediate> for Result<T, E> {
    type Value = T;
    type Error = E;
    type Future = Pending<Self>;

    fn answer(self) -> Answer<Self, Pending<Self>> {
        Answer::Ready(self)
    }
}

#[diagnostic::do_not_recommend]
impl<T, E, F: Future<Output = Result<T, E>>> Answers<Awaited> for F {
    type Value = T;
    type Error = E;
    type Future = F;

    fn answer(self) -> Answer<F::Output, F> {
        Answer::Pending(self)
    }
}

/// Asks a fallback's type whether it takes the arguments; see `__policy!`.
#[derive(Debug)]
pub struct Form<F, Base> {
    base: Base,
    _fallback: F,
}

impl<F, Base> Form<F, Base> {
    /// The question; `base` is the policy without this fallback.
    pub fn new(base: Base, fallback: F) -> Self {
        Self { base, _fallback: fallback }
    }
}

/// The first answer tried: it takes one argument, which can only be the error.
pub trait TakesErrorAlone<X> {
    /// The policy without this fallback.
    type Base;

    /// The fallback needs no arguments: nothing changes.
    fn policy(&self) -> Self::Base;
}

impl<F, X, R, Base: Copy> TakesErrorAlone<X> for Form<F, Base>
where
    F: FnOnce(X) -> R,
{
    type Base = Base;

    fn policy(&self) -> Base {
        self.base
    }
}

/// The second answer tried, by one more reference: it takes the arguments.
pub trait TakesMore {
    /// The fallback needs the arguments: they are kept.
    fn policy(&self) -> Keep {
        Keep
    }
}

impl<F, Base> TakesMore for &Form<F, Base> {}

/// Asks whether a function's error type is [`Error`]; see `__identity!`.
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
    pub fn of(&self) -> Same {
        Same
    }
}

/// The answer for every other type.
pub trait IsDistinct {
    /// The error type is the user's.
    fn of(&self) -> Distinct {
        Distinct
    }
}

impl<E> IsDistinct for Identity<E> {}

/// How attempts get their arguments: `base`, unless one of the fallbacks takes them.
#[doc(hidden)]
#[macro_export]
macro_rules! __policy {
    ($base:expr) => { $base };
    ($base:expr, $fallback:path $(, $rest:path)*) => {{
        #[allow(unused_imports)]
        use $crate::__private::{TakesErrorAlone as _, TakesMore as _};
        $crate::__policy!(
            (&$crate::__private::Form::new($base, $fallback)).policy() $(, $rest)*
        )
    }};
}

/// Whether an error type is [`Error`](crate::Error).
#[doc(hidden)]
#[macro_export]
macro_rules! __identity {
    ($error:ty) => {{
        #[allow(unused_imports)]
        use $crate::__private::IsDistinct as _;
        $crate::__private::Identity::<$error>::new().of()
    }};
}
