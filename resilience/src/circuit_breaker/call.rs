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
        let mut call = if let Some(call) = this.in_flight.take() {
            call
        } else {
            // Step by step, so that what each gives is written where it is to be: what comes from two
            // places is put together in a third and moved.
            let admission = match breaker.admit_freely_now() {
                Ok(admission) => admission,
                Err(now) => {
                    // Apart from the refusal below, as one that might be either costs a tenth more.
                    if let Some(refusal) = breaker.refuse_freely(now) {
                        this.future.set(None);
                        return Poll::Ready(Err(CallError::Resilience(refusal.into())));
                    }
                    match breaker.begin_by_word_or_lock(now) {
                        Ok(admission) => admission,
                        Err(refusal) => {
                            this.future.set(None);
                            return Poll::Ready(Err(CallError::Resilience(refusal.into())));
                        }
                    }
                }
            };
            InFlight::new(breaker, admission)
        };
        let Poll::Ready(outcome) = call.run(|| future.poll(cx)) else {
            *this.in_flight = Some(call);
            return Poll::Pending;
        };
        this.future.set(None);
        match outcome {
            // By itself, so that the value is not moved from one kind of result to the next.
            Ok(value) if rules.accept_all_results() => {
                call.succeed();
                Poll::Ready(Ok(value))
            }
            outcome => {
                let outcome = outcome.map_err(CallError::Inner);
                call.end(&outcome, rules);
                Poll::Ready(outcome)
            }
        }
    }
}
