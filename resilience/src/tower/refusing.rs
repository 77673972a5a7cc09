use std::{
    future::Future,
    marker::PhantomData,
    pin::Pin,
    task::{Context, Poll, ready},
};

use tower_service::Service;

use crate::{CallError, Error, sealed::Sealed};

/// A way to tell a client of a refusal: [`RefusalsToHttp`](super::RefusalsToHttp) or
/// [`RefusalsToGrpc`](super::RefusalsToGrpc); sealed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot make a `{T}` of a refusal",
    label = "the service answers `{T}`",
    note = "put it around a service that answers `http::Response<B>`: for `RefusalsToHttp` `B` is \
            `From<&'static str>`, for `RefusalsToGrpc` it is `Default`"
)]
pub trait Refuse<T>: Sealed<T> {
    /// The response.
    fn response(refusal: &Error) -> T;
}

/// A service whose refusals become responses in the way of `W`.
#[derive(Debug)]
pub struct Refusing<S, W> {
    inner: S,
    way: PhantomData<fn() -> W>,
}

impl<S, W> Refusing<S, W> {
    pub(super) fn new(inner: S) -> Self {
        Self { inner, way: PhantomData }
    }
}

// By hand: a derive would ask for `W: Clone`.
impl<S: Clone, W> Clone for Refusing<S, W> {
    fn clone(&self) -> Self {
        Self::new(self.inner.clone())
    }
}

impl<S, R, W, E> Service<R> for Refusing<S, W>
where
    S: Service<R, Error = CallError<E>>,
    W: Refuse<S::Response>,
{
    type Response = S::Response;
    type Error = E;
    type Future = RefusingFuture<S::Future, W>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), E>> {
        match ready!(self.inner.poll_ready(cx)) {
            Err(CallError::Inner(error)) => Poll::Ready(Err(error)),
            // Readiness has no response. Layers of this crate refuse when they are called only.
            Ok(()) | Err(CallError::Resilience(_)) => Poll::Ready(Ok(())),
        }
    }

    fn call(&mut self, request: R) -> Self::Future {
        RefusingFuture { call: self.inner.call(request), way: PhantomData }
    }
}

pin_project_lite::pin_project! {
    /// The answer of a [`Refusing`] service.
    #[derive(Debug)]
    #[must_use = "futures do nothing unless awaited"]
    pub struct RefusingFuture<F, W> {
        #[pin]
        call: F,
        way: PhantomData<fn() -> W>,
    }
}

impl<F, W, T, E> Future for RefusingFuture<F, W>
where
    F: Future<Output = Result<T, CallError<E>>>,
    W: Refuse<T>,
{
    type Output = Result<T, E>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        Poll::Ready(match ready!(self.project().call.poll(cx)) {
            Ok(response) => Ok(response),
            Err(CallError::Inner(error)) => Err(error),
            Err(CallError::Resilience(refusal)) => Ok(W::response(&refusal)),
        })
    }
}
