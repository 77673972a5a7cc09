use std::{
    borrow::Borrow,
    future::Future,
    pin::Pin,
    task::{Context, Poll},
};

use super::{CircuitBreaker, in_flight::InFlight};
use crate::{CallError, Rules};

pin_project_lite::pin_project! {
    /// A call through a breaker, which is asked at the first poll.
    ///
    /// Written by hand, because an `async fn` moves the future that it is given once more.
    #[must_use = "futures do nothing unless awaited"]
    pub(super) struct Call<'b, F, R> {
        // The future goes before its end is told.
        #[pin]
        future: F,
        breaker: &'b CircuitBreaker,
        // Rules, or what lends them.
        rules: R,
        in_flight: Option<InFlight<'b>>,
    }
}

impl<'b, F, R> Call<'b, F, R> {
    #[inline]
    pub(super) fn new(breaker: &'b CircuitBreaker, rules: R, future: F) -> Self {
        Self { future, breaker, rules, in_flight: None }
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
        let this = self.project();
        let (breaker, rules): (_, &Rules<T, E>) = (*this.breaker, (*this.rules).borrow());
        let call = match this.in_flight {
            Some(call) => call,
            None => match breaker.begin_now() {
                Ok(admission) => this.in_flight.insert(InFlight::new(breaker, admission)),
                Err(refusal) => return Poll::Ready(Err(CallError::Resilience(refusal.into()))),
            },
        };
        call.is_polling = true;
        let poll = this.future.poll(cx);
        call.is_polling = false;
        let Poll::Ready(outcome) = poll else { return Poll::Pending };
        let outcome = outcome.map_err(CallError::Inner);
        if outcome.is_ok() && rules.accept_all_results() {
            if let Some(call) = this.in_flight.take() {
                call.succeed();
            }
        } else {
            // The rules are the user's and may panic: the call is in flight meanwhile.
            let report = rules.report(&outcome, || breaker.config());
            if let Some(call) = this.in_flight.take() {
                call.end(report);
            }
        }
        Poll::Ready(outcome)
    }
}
