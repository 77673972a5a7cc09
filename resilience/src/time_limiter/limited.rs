use std::{
    fmt,
    future::Future,
    pin::Pin,
    task::{Context, Poll},
};

use super::{Countdown, TimeLimiter};
use crate::{
    context::Due,
    error::{CallError, TimedOut},
};

pin_project_lite::pin_project! {
    /// A call within a limit, or within a deadline around it that comes first.
    pub(crate) struct Limited<F> {
        #[pin]
        call: F,
        bounds: Bounds,
        #[pin]
        countdown: Option<Countdown>,
    }
}

/// What bounds a call.
struct Bounds {
    limiter: TimeLimiter,
    /// The deadline, where it comes before the limiter's end.
    due: Option<Due>,
}

impl<F> Limited<F> {
    /// A disabled limiter bounds nothing, and does not keep to the deadline either.
    ///
    /// # Errors
    ///
    /// [`TimedOut`] when the deadline was over before: there is nothing to call then.
    pub(crate) fn begin(
        limiter: &TimeLimiter,
        due: Option<Due>,
        call: impl FnOnce() -> F,
    ) -> Result<Self, TimedOut> {
        let now = limiter.clock().now();
        let Some(own) = limiter.begin(now) else {
            let bounds = Bounds { limiter: limiter.clone(), due: None };
            return Ok(Self { call: call(), bounds, countdown: None });
        };
        let due = due.filter(|due| due.at() < own.end());
        if let Some(due) = due.as_ref().filter(|due| due.came_too_late()) {
            return Err(due.exceeded());
        }
        let countdown = due.as_ref().map_or(own, |due| Countdown::until(due.at(), now));
        let bounds = Bounds { limiter: limiter.clone(), due };
        Ok(Self { call: call(), bounds, countdown: Some(countdown) })
    }
}

impl<F: Future<Output = Result<T, E>>, T, E> Future for Limited<F> {
    type Output = Result<T, CallError<E>>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let answer = this.call.poll(cx);
        let Some(countdown) = this.countdown.as_pin_mut() else {
            return answer.map_err(CallError::Inner);
        };
        let Bounds { limiter, due } = this.bounds;
        // As in a stack: an error that comes at the deadline tells of it, and nobody knows whose
        // timer wakes first.
        if let Some(due) = due
            && !matches!(answer, Poll::Ready(Ok(_)))
            && due.is_over(limiter.clock().now())
        {
            return Poll::Ready(Err(CallError::Resilience(due.exceeded().into())));
        }
        // A call that is ready in the same poll wins.
        if let Poll::Ready(answer) = answer {
            limiter.end(answer.is_ok());
            return Poll::Ready(answer.map_err(CallError::Inner));
        }
        let limit = countdown.limit();
        let expired = countdown.poll(limiter.clock(), cx);
        expired.map(|()| {
            let over = due.as_ref().map_or_else(|| limiter.expire(limit), Due::exceeded);
            Err(CallError::Resilience(over.into()))
        })
    }
}

impl<F> fmt::Debug for Limited<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Limited").field("limiter", &self.bounds.limiter).finish_non_exhaustive()
    }
}
