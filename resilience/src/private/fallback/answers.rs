//! Whether a fallback is async.

use std::future::{Future, Pending};

/// What a fallback returns: the function's `Result`, or a future of it.
#[diagnostic::on_unimplemented(
    message = "a fallback returns the function's `Result`, sync or async, not `{Self}`",
    label = "returns something else: `{Self}`",
    note = "let it return `Result<{T}, {E}>`"
)]
pub trait Answers<T, E, Mode> {
    /// The future, if it is one. It has a name, so that it is `Send` when it can be.
    type Future: Future<Output = Result<T, E>>;

    /// Tells results from futures.
    fn answer(self) -> Answer<Result<T, E>, Self::Future>;
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

/// Marks what is neither: nothing has it. Were a future all that is left, then what is no `Result`
/// would be taken for one, and be said to be none in an error of its own.
#[derive(Debug)]
pub struct Neither;

/// What nothing is.
pub trait Nothing {}

#[diagnostic::do_not_recommend]
impl<T, E> Answers<T, E, Immediate> for Result<T, E> {
    type Future = Pending<Self>;

    fn answer(self) -> Answer<Self, Pending<Self>> {
        Answer::Ready(self)
    }
}

#[diagnostic::do_not_recommend]
impl<T, E, F: Future<Output = Result<T, E>>> Answers<T, E, Awaited> for F {
    type Future = F;

    fn answer(self) -> Answer<F::Output, F> {
        Answer::Pending(self)
    }
}

#[diagnostic::do_not_recommend]
impl<T, E, N: Nothing> Answers<T, E, Neither> for N {
    type Future = Pending<Result<T, E>>;

    fn answer(self) -> Answer<Result<T, E>, Self::Future> {
        Answer::Pending(std::future::pending())
    }
}
