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
    context::Context as CallContext,
    error::CallError,
    time_limiter::Countdown,
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
        // To the end of the time limit, or to a deadline that comes first.
        #[pin]
        countdown: Option<Countdown>,
        // Whose the time is that the countdown is about.
        limit: Limit,
        // What calls further down are told while the body runs.
        published: Option<CallContext>,
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

/// What bounds an attempt.
#[derive(Debug, Clone, Copy, Default)]
struct Limit {
    /// The time limiter acts.
    limited: bool,
    /// A deadline around the call comes before the limiter's end.
    by_deadline: bool,
}

impl<'p, B> Protect<'p, B> {
    pub(super) fn new(pass: &'p mut Pass, body: B) -> Self {
        Self {
            pass,
            stage: Stage::New,
            countdown: None,
            limit: Limit::default(),
            published: None,
            wait: None,
            body,
            slot: None,
        }
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
        match polled {
            Poll::Ready(result) => {
                if result.is_err() && this.shared_time_is_over() {
                    return Poll::Ready(Err(this.cut_short()));
                }
                if let (true, Some(limiter)) =
                    (this.limit.limited, &this.pass.layers().time_limiter)
                {
                    limiter.end(result.is_ok());
                }
                Poll::Ready(result)
            }
            Poll::Pending => {
                if !this.shared_time_is_over() {
                    let Some(countdown) = this.countdown.as_mut().as_pin_mut() else {
                        return Poll::Pending;
                    };
                    ready!(countdown.poll(&this.pass.layers().clock, cx));
                }
                Poll::Ready(Err(this.cut_short()))
            }
        }
    }
}

impl<B: Body> Within<'_, '_, B> {
    fn begin(&mut self, cx: &mut Context<'_>) -> Poll<Result<B::Value, CallError<B::Error>>> {
        let layers = self.pass.layers();
        let time_limiter = layers.time_limiter.as_ref().filter(|limiter| limiter.is_enabled());
        let bulkhead = layers.bulkhead.as_ref().filter(|bulkhead| bulkhead.is_enabled());
        if time_limiter.is_none()
            && bulkhead.is_none()
            && self.pass.due().is_none()
            && !layers.deadline
        {
            *self.stage = Stage::Running;
            return self.poll_bulkhead(cx);
        }
        let now = self.pass.admitted_at();
        let own = time_limiter.and_then(|limiter| limiter.begin(now));
        let limit_end = own.as_ref().map(Countdown::end);
        let due = self.pass.due().filter(|due| limit_end.is_none_or(|end| due.at() < end));
        *self.limit = Limit { limited: own.is_some(), by_deadline: due.is_some() };
        self.countdown.set(due.map(|due| Countdown::until(due.at(), now)).or(own));
        *self.published = self.pass.published(limit_end);
        *self.stage = Stage::Running;
        if let Some(bulkhead) = bulkhead {
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
        let body = self.body.as_mut();
        let polled = match &*self.published {
            None => body.poll_body(&mut run, cx),
            Some(context) => context.clone().enter(|| body.poll_body(&mut run, cx)),
        };
        self.pass.set_polling(false);
        let result = ready!(polled);
        *self.slot = None;
        Poll::Ready(result)
    }

    /// Whether a time is over that calls further up or down keep to as well.
    ///
    /// Of all that wait for it nobody knows who is woken first. So here the time is read rather than
    /// left to the timer, that each of them counts a timeout, and an error of the body is taken for
    /// what it most likely tells of: that the time is over.
    fn shared_time_is_over(&self) -> bool {
        if !self.limit.by_deadline && self.published.is_none() {
            return false;
        }
        let end = self.countdown.as_ref().as_pin_ref().map(|countdown| countdown.end());
        end.is_some_and(|end| self.pass.layers().clock.now() >= end)
    }

    /// The error of an attempt whose time is over.
    fn cut_short<E>(&self) -> CallError<E> {
        let limiter = self.pass.layers().time_limiter.as_ref();
        let countdown = self.countdown.as_ref().as_pin_ref();
        let timed_out = match (self.pass.due(), limiter, countdown) {
            (Some(due), ..) if self.limit.by_deadline => due.exceeded(),
            (_, Some(limiter), Some(countdown)) => limiter.expire(countdown.limit()),
            _ => unreachable!("the time is a deadline's or a limiter's"),
        };
        CallError::Resilience(timed_out.into())
    }
}

impl<B> fmt::Debug for Protect<'_, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Protect").field("stage", &self.stage).finish_non_exhaustive()
    }
}
