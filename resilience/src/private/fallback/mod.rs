//! Typed fallbacks: from the path that the user wrote to the call that it asks for.
//!
//! Three questions are answered by the fallback's type alone, each by one trait: which arguments
//! it takes ([`Takes`]), which errors it handles ([`Handles`]), and whether it is async
//! ([`Answers`]). Each has a marker parameter, so that the implementations do not overlap; the
//! compiler finds the one marker that fits.

mod answers;
mod handles;
mod policy;
mod takes;

use std::marker::PhantomData;

pub use self::{
    answers::{Answer, Answers, Awaited, Immediate},
    handles::{Business, Distinct, Everything, Handles, Identity, IsDistinct, Refusals, Same},
    policy::{Form, TakesErrorAlone, TakesMore},
    takes::{ErrorAlone, NoArguments, NoFallback, NoReceiver, Takes, WithArguments, WithReceiver},
};
use super::outcome::{FromRefusal, into_error};
use crate::CallError;

/// The response of a fallback that returns `R`; without one the call is `N`.
type Answering<R, T, E, Mode, N> = Response<Result<T, E>, <R as Answers<T, E, Mode>>::Future, N>;

/// A call that failed, with what its fallbacks may take.
#[derive(Debug)]
pub struct Failed<S, A, T, E> {
    receiver: S,
    arguments: A,
    error: CallError<E>,
    value: PhantomData<fn() -> T>,
}

impl<S, A, T, E> Failed<S, A, T, E> {
    /// A call that failed; `receiver` and `arguments` are [`Slot`](super::Slot)s or stand-ins.
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
    ) -> Answering<F::Output, T, E, Mode, Self>
    where
        F: Takes<Form, S, A, X>,
        X: Handles<Kind, E, Identity>,
        F::Output: Answers<T, E, Mode>,
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
