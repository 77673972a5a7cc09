//! Whether a fallback is async.

use std::future::{Future, Pending};

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
