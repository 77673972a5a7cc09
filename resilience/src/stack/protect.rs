use std::{
    fmt,
    future::Future,
    pin::Pin,
    task::{Context, Poll},
};

use super::{
    Pass,
    body::{Body, Run},
};
use crate::{
    bulkhead::{Entry, Permit, Wait},
    error::CallError,
    time_limiter::Deadline,
};

pin_project_lite::pin_project! {
    /// The inner layers around a body: a time limit, within it the wait for a bulkhead slot, within
    /// that the body.
    ///
    /// One future with plain fields instead of one per layer: a body that is ready at once costs a
    /// slot taken and given back, and no timer.
    #[must_use = "futures do nothing unless awaited"]
    pub struct Protect<'p, B> {
        pass: &'p mut Pass,
        stage: Stage,
        #[pin]
        deadline: Option<Deadline>,
        #[pin]
        wait: Option<Wait>,
        // The body goes before its slot: whoever gets the slot next must not find it still running.
        #[pin]
        body: B,
        slot: Option<Permit>,
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    New,
    Queued,
    Running,
}

impl<'p, B> Protect<'p, B> {
    pub(super) fn new(pass: &'p mut Pass, body: B) -> Self {
        Self { pass, stage: Stage::New, deadline: None, wait: None, body, slot: None }
    }
}

impl<B: Body> Future for Protect<'_, B> {
    type Output = Result<B::Value, CallError<B::Error>>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        if *this.stage == Stage::New {
            let layers = this.pass.layers();
            let now = layers.clock.now();
            this.deadline.set(layers.time_limiter.as_ref().and_then(|limiter| limiter.begin(now)));
            *this.stage = Stage::Running;
            if let Some(bulkhead) = layers.bulkhead.as_ref().filter(|b| b.is_enabled()) {
                match bulkhead.begin(now) {
                    Ok(Entry::Admitted(permit)) => *this.slot = Some(permit),
                    Ok(Entry::Queued(wait)) => {
                        this.wait.set(Some(wait));
                        *this.stage = Stage::Queued;
                    }
                    Err(full) => return Poll::Ready(Err(CallError::Resilience(full.into()))),
                }
            }
        }
        if *this.stage == Stage::Queued
            && let Some(wait) = this.wait.as_mut().as_pin_mut()
            && let Poll::Ready(turn) = wait.poll(cx)
        {
            this.wait.set(None);
            match turn {
                Ok(permit) => *this.slot = Some(permit),
                Err(full) => return Poll::Ready(Err(CallError::Resilience(full.into()))),
            }
            *this.stage = Stage::Running;
        }
        if *this.stage == Stage::Running {
            this.pass.set_polling(true);
            let mut run = Run { layers: this.pass.layers(), slot: this.slot };
            let polled = this.body.poll_body(&mut run, cx);
            this.pass.set_polling(false);
            if let Poll::Ready(result) = polled {
                *this.slot = None;
                if this.deadline.is_some()
                    && let Some(limiter) = &this.pass.layers().time_limiter
                {
                    limiter.in_time(result.is_ok());
                }
                return Poll::Ready(result);
            }
        }
        let layers = this.pass.layers();
        if let (Some(limiter), Some(mut deadline)) =
            (&layers.time_limiter, this.deadline.as_mut().as_pin_mut())
            && deadline.as_mut().poll(&layers.clock, cx).is_ready()
        {
            let timed_out = limiter.expired(deadline.limit());
            return Poll::Ready(Err(CallError::Resilience(timed_out.into())));
        }
        Poll::Pending
    }
}

impl<B> fmt::Debug for Protect<'_, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Protect").field("stage", &self.stage).finish_non_exhaustive()
    }
}
