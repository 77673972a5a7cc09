use std::{
    future::Future,
    pin::Pin,
    task::{Context, Poll},
};

use super::CallSpan;
use crate::error::CallError;

pin_project_lite::pin_project! {
    /// The body of a call inside its span.
    #[must_use = "futures do nothing unless awaited"]
    pub(crate) struct Around<'s, F> {
        span: &'s mut CallSpan,
        #[pin]
        future: F,
    }
}

impl CallSpan {
    /// Runs code of the call inside the span.
    #[inline]
    pub(crate) fn run<R>(&mut self, code: impl FnOnce() -> R) -> R {
        self.enter();
        let result = code();
        self.leave();
        result
    }

    /// The same for the body, or for all that a call does: a panic is its own.
    #[inline]
    pub(crate) fn run_body<R>(&mut self, body: impl FnOnce() -> R) -> R {
        self.in_body(true);
        let result = self.run(body);
        self.in_body(false);
        result
    }

    /// Polls the body of a call inside the span.
    pub(crate) fn around<F: Future>(&mut self, future: F) -> Around<'_, F> {
        Around { span: self, future }
    }

    /// Polls a whole call inside the span, which ends with it.
    #[inline]
    pub(crate) fn poll_call<F, T, E>(
        &mut self,
        call: Pin<&mut F>,
        cx: &mut Context<'_>,
    ) -> Poll<F::Output>
    where
        F: Future<Output = Result<T, CallError<E>>>,
    {
        self.in_body(true);
        let span = Entered::new(self);
        let polled = call.poll(cx);
        drop(span);
        self.in_body(false);
        if let Poll::Ready(result) = &polled {
            self.end(result);
        }
        polled
    }
}

/// Leaves a span also when a call panics that is kept by somebody beyond that.
struct Entered<'s>(&'s mut CallSpan);

impl<'s> Entered<'s> {
    #[inline]
    fn new(span: &'s mut CallSpan) -> Self {
        span.enter();
        Self(span)
    }
}

impl Drop for Entered<'_> {
    #[inline]
    fn drop(&mut self) {
        self.0.leave();
    }
}

impl<F: Future> Future for Around<'_, F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.project();
        this.span.run_body(|| this.future.poll(cx))
    }
}
