use std::{
    fmt,
    future::Future,
    pin::Pin,
    task::{Context, Poll, ready},
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
    #[project = Within]
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
        let polled = match *this.stage {
            Stage::New => this.begin(cx),
            Stage::Queued | Stage::Running => this.poll_bulkhead(cx),
        };
        if let Poll::Ready(result) = polled {
            if let (Some(_), Some(limiter)) =
                (this.deadline.as_ref().as_pin_ref(), &this.pass.layers().time_limiter)
            {
                limiter.end(result.is_ok());
            }
            return Poll::Ready(result);
        }
        let layers = this.pass.layers();
        if let (Some(mut deadline), Some(limiter)) =
            (this.deadline.as_mut().as_pin_mut(), &layers.time_limiter)
            && deadline.as_mut().poll(&layers.clock, cx).is_ready()
        {
            let timed_out = limiter.expire(deadline.limit());
            return Poll::Ready(Err(CallError::Resilience(timed_out.into())));
        }
        Poll::Pending
    }
}

impl<B: Body> Within<'_, '_, B> {
    fn begin(&mut self, cx: &mut Context<'_>) -> Poll<Result<B::Value, CallError<B::Error>>> {
        let layers = self.pass.layers();
        let now = layers.clock.now();
        self.deadline.set(layers.time_limiter.as_ref().and_then(|limiter| limiter.begin(now)));
        *self.stage = Stage::Running;
        if let Some(bulkhead) = layers.bulkhead.as_ref().filter(|b| b.is_enabled()) {
            match bulkhead.begin(now) {
                Ok(Entry::Admitted(permit)) => *self.slot = Some(permit),
                Ok(Entry::Queued(wait)) => {
                    self.wait.set(Some(wait));
                    *self.stage = Stage::Queued;
                }
                Err(full) => return Poll::Ready(Err(CallError::Resilience(full.into()))),
            }
        }
        self.poll_bulkhead(cx)
    }

    /// What the time limit is around: the wait for a slot, then the body.
    fn poll_bulkhead(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Result<B::Value, CallError<B::Error>>> {
        if *self.stage == Stage::Queued {
            let Some(wait) = self.wait.as_mut().as_pin_mut() else { return Poll::Pending };
            let turn = ready!(wait.poll(cx));
            self.wait.set(None);
            *self.slot = Some(turn.map_err(|full| CallError::Resilience(full.into()))?);
            *self.stage = Stage::Running;
        }
        self.pass.set_polling(true);
        let mut run = Run { layers: self.pass.layers(), slot: self.slot };
        let polled = self.body.as_mut().poll_body(&mut run, cx);
        self.pass.set_polling(false);
        let result = ready!(polled);
        *self.slot = None;
        Poll::Ready(result)
    }
}

impl<B> fmt::Debug for Protect<'_, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Protect").field("stage", &self.stage).finish_non_exhaustive()
    }
}
