use std::{
    future::Future,
    pin::Pin,
    task::{Context, Poll},
};

use super::{CallSpan, Named};
use crate::error::CallError;

pin_project_lite::pin_project! {
    /// A call inside its span, from its first poll on.
    #[must_use = "futures do nothing unless awaited"]
    pub(crate) struct InSpan<F> {
        // The call goes before the span of it.
        #[pin]
        call: F,
        span: CallSpan,
    }
}

impl<F> InSpan<F> {
    #[inline]
    pub(crate) fn new(call: F) -> Self {
        Self { call, span: CallSpan::none() }
    }
}

impl<F, T, E> Future for InSpan<F>
where
    F: Future<Output = Result<T, CallError<E>>> + Named,
{
    type Output = Result<T, CallError<E>>;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        // Asked at each poll: to keep that it was asked would make every call longer.
        if self.span.is_on() || CallSpan::is_wanted() {
            return self.poll_inside(cx);
        }
        self.project().call.poll(cx)
    }
}

impl<F, T, E> InSpan<F>
where
    F: Future<Output = Result<T, CallError<E>>> + Named,
{
    #[cold]
    #[inline(never)]
    fn poll_inside(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<T, CallError<E>>> {
        let this = self.project();
        if !this.span.is_on() {
            let call = this.call.as_ref();
            *this.span = CallSpan::start(|| call.get_ref().names());
        }
        this.span.poll_call(this.call, cx)
    }
}
