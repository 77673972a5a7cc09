//! Typed fallbacks of calls that are made without attributes; the types decide by the same traits.

use std::{
    future::Future,
    pin::Pin,
    task::{Context, Poll},
};

use crate::{
    __private::{
        Answer, Answers, ErrorAlone, Handles, NoReceiver, Response, Slot, Takes, WithArguments,
    },
    error::CallError,
};

/// A function that can be the fallback of calls that take `A` and return `Result<T, E>`;
/// [`Unanswered::fallback`](super::Unanswered::fallback) tells which are. Sealed.
#[diagnostic::on_unimplemented(
    message = "this fallback does not fit the call",
    label = "takes something else than the error, or arguments and error; or returns another type",
    note = "it returns `Result<{T}, {E}>`, sync or async, and takes the error alone or `({A}, error)`",
    note = "one that takes the arguments of the call needs `call_with`: `call` has none, shown as `()`",
    note = "the error is a `CallError<{E}>`, a `resilience::Error`, a `{E}` or one of the structs such \
            as `TimedOut`",
    note = "`stack.protect::<T, E>()` with the types written out lets the compiler know the error type"
)]
pub trait Fallback<A, T, E, Identity, Marker>: Respond<A, T, E, Identity, Marker> {}

#[diagnostic::do_not_recommend]
impl<F, A, T, E, Identity, Marker> Fallback<A, T, E, Identity, Marker> for F where
    F: Respond<A, T, E, Identity, Marker>
{
}

/// What a fallback does. Nobody else can name it, so that nobody else's type is a [`Fallback`].
pub trait Respond<A, T, E, Identity, Marker>: Clone {
    /// Whether it takes the arguments.
    const TAKES_ARGUMENTS: bool;

    /// The answer of an async one.
    type Future: Future<Output = Result<T, E>>;

    /// Whether it handles this error.
    fn fits(error: &CallError<E>) -> bool;

    /// Calls it, if it handles the error.
    fn respond(
        self,
        arguments: Slot<A>,
        error: CallError<E>,
    ) -> Response<Result<T, E>, Self::Future, CallError<E>>;
}

/// What the compiler finds out about one function.
#[doc(hidden)]
#[derive(Debug)]
pub struct One<Form, X, Kind, Mode>(std::marker::PhantomData<(Form, X, Kind, Mode)>);

/// What the compiler finds out about two fallbacks.
#[doc(hidden)]
#[derive(Debug)]
pub struct Two<First, Second>(std::marker::PhantomData<(First, Second)>);

/// Whether a form of fallback takes the arguments.
#[doc(hidden)]
pub trait Needs {
    const ARGUMENTS: bool;
}

impl Needs for ErrorAlone {
    const ARGUMENTS: bool = false;
}

impl Needs for WithArguments {
    const ARGUMENTS: bool = true;
}

#[diagnostic::do_not_recommend]
impl<F, A, T, E, Identity, Form, X, Kind, Mode> Respond<A, T, E, Identity, One<Form, X, Kind, Mode>>
    for F
where
    F: Takes<Form, NoReceiver, (Slot<A>,), X> + Clone,
    F::Output: Answers<T, E, Mode>,
    X: Handles<Kind, E, Identity>,
    Form: Needs,
{
    const TAKES_ARGUMENTS: bool = Form::ARGUMENTS;

    type Future = <F::Output as Answers<T, E, Mode>>::Future;

    fn fits(error: &CallError<E>) -> bool {
        X::fits(error)
    }

    fn respond(
        self,
        arguments: Slot<A>,
        error: CallError<E>,
    ) -> Response<Result<T, E>, Self::Future, CallError<E>> {
        match X::select(error) {
            Ok(error) => match self.call(NoReceiver, (arguments,), error).answer() {
                Answer::Ready(result) => Response::Ready(result),
                Answer::Pending(future) => Response::Pending(future),
            },
            Err(error) => Response::Unhandled(error),
        }
    }
}

/// Two fallbacks, of which the second handles what the first does not.
#[doc(hidden)]
#[derive(Debug, Clone)]
pub struct FirstOf<F, G> {
    first: F,
    second: G,
}

impl<F, G> FirstOf<F, G> {
    pub(super) fn new(first: F, second: G) -> Self {
        Self { first, second }
    }
}

#[diagnostic::do_not_recommend]
impl<F, G, A, T, E, Identity, First, Second> Respond<A, T, E, Identity, Two<First, Second>>
    for FirstOf<F, G>
where
    F: Respond<A, T, E, Identity, First>,
    G: Respond<A, T, E, Identity, Second>,
{
    const TAKES_ARGUMENTS: bool = F::TAKES_ARGUMENTS || G::TAKES_ARGUMENTS;

    type Future = Either<F::Future, G::Future>;

    fn fits(error: &CallError<E>) -> bool {
        F::fits(error) || G::fits(error)
    }

    fn respond(
        self,
        arguments: Slot<A>,
        error: CallError<E>,
    ) -> Response<Result<T, E>, Self::Future, CallError<E>> {
        if F::fits(&error) {
            self.first.respond(arguments, error).map(|first| Either::First { first })
        } else {
            self.second.respond(arguments, error).map(|second| Either::Second { second })
        }
    }
}

impl<R, F, N> Response<R, F, N> {
    fn map<G>(self, wrap: impl FnOnce(F) -> G) -> Response<R, G, N> {
        match self {
            Response::Ready(result) => Response::Ready(result),
            Response::Pending(future) => Response::Pending(wrap(future)),
            Response::Unhandled(error) => Response::Unhandled(error),
        }
    }
}

pin_project_lite::pin_project! {
    /// The future of one of two fallbacks.
    #[doc(hidden)]
    #[project = EitherProjection]
    #[derive(Debug)]
    pub enum Either<F, G> {
        First { #[pin] first: F },
        Second { #[pin] second: G },
    }
}

impl<F: Future, G: Future<Output = F::Output>> Future for Either<F, G> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        match self.project() {
            EitherProjection::First { first } => first.poll(cx),
            EitherProjection::Second { second } => second.poll(cx),
        }
    }
}
