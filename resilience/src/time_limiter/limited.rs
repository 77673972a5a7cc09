use std::{
    borrow::Borrow,
    fmt,
    future::Future,
    pin::Pin,
    task::{Context, Poll, ready},
};

use super::{Countdown, TimeLimit, TimeLimiter};
use crate::{
    context::{self, Due},
    entrance::POLLED_AGAIN,
    error::{CallError, TimedOut},
    trace::{Named, Names},
};

pin_project_lite::pin_project! {
    /// A call within a limit, or within a deadline around it that comes first. Both are looked up at the
    /// first poll.
    ///
    /// Written by hand, because an `async fn` moves the future that it is given once more.
    #[must_use = "futures do nothing unless awaited"]
    pub(crate) struct Limited<F, L> {
        #[pin]
        call: Option<F>,
        // The limiter, or what lends it.
        limiter: L,
        begun: bool,
        // The deadline, where it comes before the limiter's end.
        due: Option<Due>,
        #[pin]
        countdown: Countdown,
    }
}

impl<F, L: Borrow<TimeLimiter>> Limited<F, L> {
    #[inline]
    pub(crate) fn new(limiter: L, call: F) -> Self {
        Self { call: Some(call), limiter, begun: false, due: None, countdown: Countdown::new(None) }
    }

    /// The same under a deadline that was looked up already; a call that comes too late is not made.
    #[cfg(feature = "tower")]
    pub(crate) fn under(
        due: Option<Due>,
        limiter: L,
        call: impl FnOnce() -> F,
    ) -> Result<Self, TimedOut> {
        let (limit, due) = match due {
            None => (limiter.borrow().begin(None), None),
            Some(due) => bounds(limiter.borrow(), due)?,
        };
        let (call, countdown) = (Some(call()), Countdown::new(limit));
        Ok(Self { call, limiter, begun: true, due, countdown })
    }

    #[inline]
    fn begin(self: Pin<&mut Self>) -> Result<(), TimedOut> {
        let this = self.project();
        *this.begun = true;
        let limiter: &TimeLimiter = (*this.limiter).borrow();
        match context::due(limiter.clock()) {
            None => this.countdown.set(limiter.begin(None)),
            Some(due) => {
                let (limit, due) = bounds(limiter, due)?;
                this.countdown.set(limit);
                *this.due = due;
            }
        }
        Ok(())
    }
}

/// What bounds a call under a deadline. A disabled limiter bounds nothing, and does not keep to the
/// deadline either.
///
/// # Errors
///
/// [`TimedOut`] when the deadline was over before: there is nothing to call then.
#[cold]
fn bounds(limiter: &TimeLimiter, due: Due) -> Result<(Option<TimeLimit>, Option<Due>), TimedOut> {
    let now = limiter.clock().now();
    let Some(own) = limiter.begin(Some(now)) else { return Ok((None, None)) };
    if own.end().is_some_and(|end| end <= due.at()) {
        return Ok((Some(own), None));
    }
    if due.came_too_late() {
        return Err(due.exceeded());
    }
    Ok((Some(TimeLimit::until(due.at(), now)), Some(due)))
}

impl<F, L: Borrow<TimeLimiter>> Named for Limited<F, L> {
    fn names(&self) -> Names<'_> {
        self.limiter.borrow().names()
    }
}

impl<F, L, T, E> Future for Limited<F, L>
where
    F: Future<Output = Result<T, E>>,
    L: Borrow<TimeLimiter>,
{
    type Output = Result<T, CallError<E>>;

    /// Whichever way a call is over, it is dropped before whoever polls has the answer: it holds what it
    /// holds no longer than that.
    #[inline]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        if !self.begun
            && let Err(over) = self.as_mut().begin()
        {
            self.project().call.set(None);
            return Poll::Ready(Err(CallError::Resilience(over.into())));
        }
        let mut this = self.as_mut().project();
        match this.call.as_mut().as_pin_mut().expect(POLLED_AGAIN).poll(cx) {
            // By itself, so that the value is not moved from one kind of result to the next. A call that
            // is ready in the same poll wins.
            Poll::Ready(Ok(value)) => {
                if this.countdown.limit().is_some() {
                    (*this.limiter).borrow().end(true);
                }
                this.call.set(None);
                Poll::Ready(Ok(value))
            }
            Poll::Ready(Err(error)) => {
                let result = self.as_mut().fail(error);
                self.project().call.set(None);
                Poll::Ready(Err(result))
            }
            Poll::Pending => {
                let over = ready!(self.as_mut().poll_time(cx));
                self.project().call.set(None);
                Poll::Ready(Err(CallError::Resilience(over.into())))
            }
        }
    }
}

impl<F, L: Borrow<TimeLimiter>> Limited<F, L> {
    /// The end of a call that failed in time. As in a stack, an error that comes at the deadline tells of
    /// it: nobody knows whose timer wakes first.
    fn fail<E>(self: Pin<&mut Self>, error: E) -> CallError<E> {
        if self.countdown.limit().is_some() {
            if let Some(over) = self.as_ref().at_the_deadline() {
                return CallError::Resilience(over.into());
            }
            self.limiter.borrow().end(false);
        }
        CallError::Inner(error)
    }

    /// Ready once the time of a call that has to wait is over.
    fn poll_time(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<TimedOut> {
        let Some(limit) = self.countdown.limit() else { return Poll::Pending };
        if let Some(over) = self.as_ref().at_the_deadline() {
            return Poll::Ready(over);
        }
        let this = self.project();
        let limiter: &TimeLimiter = (*this.limiter).borrow();
        ready!(this.countdown.poll(limiter.clock(), cx));
        Poll::Ready(this.due.as_ref().map_or_else(|| limiter.expire(limit), Due::exceeded))
    }

    fn at_the_deadline(self: Pin<&Self>) -> Option<TimedOut> {
        let due = self.get_ref().due.as_ref()?;
        due.is_over(self.limiter.borrow().clock().now()).then(|| due.exceeded())
    }
}

impl<F, L: Borrow<TimeLimiter>> fmt::Debug for Limited<F, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Limited").field("limiter", self.limiter.borrow()).finish_non_exhaustive()
    }
}
