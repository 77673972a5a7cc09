use std::{
    borrow::Borrow,
    future::Future,
    pin::Pin,
    task::{Context, Poll},
};

use super::{CircuitBreaker, in_flight::InFlight};
use crate::{
    CallError, Rules,
    entrance::POLLED_AGAIN,
    trace::{Named, Names},
};

pin_project_lite::pin_project! {
    /// A call through a breaker, which is asked at the first poll.
    ///
    /// Written by hand, because an `async fn` moves the future that it is given once more.
    #[must_use = "futures do nothing unless awaited"]
    pub(super) struct Call<'b, F, R> {
        // The future goes before its end is told.
        #[pin]
        future: Option<F>,
        breaker: &'b CircuitBreaker,
        // Rules, or what lends them.
        rules: R,
        in_flight: Option<InFlight<'b>>,
    }
}

impl<'b, F, R> Call<'b, F, R> {
    #[inline]
    pub(super) fn new(breaker: &'b CircuitBreaker, rules: R, future: F) -> Self {
        Self { future: Some(future), breaker, rules, in_flight: None }
    }
}

impl<F, R> Named for Call<'_, F, R> {
    fn names(&self) -> Names<'_> {
        self.breaker.names()
    }
}

impl<F, R, T, E> Future for Call<'_, F, R>
where
    F: Future<Output = Result<T, E>>,
    R: Borrow<Rules<T, E>>,
{
    type Output = Result<T, CallError<E>>;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        let (breaker, rules): (_, &Rules<T, E>) = (*this.breaker, (*this.rules).borrow());
        let future = this.future.as_mut().as_pin_mut().expect(POLLED_AGAIN);
        // Here meanwhile, so that a panic of the future is told at once.
        let mut call = match this.in_flight.take() {
            Some(call) => call,
            None => match breaker.begin_now() {
                Ok(admission) => InFlight::new(breaker, admission),
                Err(refusal) => {
                    this.future.set(None);
                    return Poll::Ready(Err(CallError::Resilience(refusal.into())));
                }
            },
        };
        call.is_polling = true;
        let poll = future.poll(cx);
        call.is_polling = false;
        let Poll::Ready(outcome) = poll else {
            *this.in_flight = Some(call);
            return Poll::Pending;
        };
        this.future.set(None);
        let outcome = outcome.map_err(CallError::Inner);
        call.end(&outcome, rules);
        Poll::Ready(outcome)
    }
}
