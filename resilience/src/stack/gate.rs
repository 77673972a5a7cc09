//! The inner layers of one attempt, a time limit and within it the wait for a slot: what they hold, without
//! the body, so that it is compiled once.

use std::{
    pin::Pin,
    task::{Context, Poll, ready},
};

use super::{Layers, Pass};
use crate::{
    BulkheadFull, Retry, TimeLimiter,
    bulkhead::{Entry, Permit, Slot, Wait},
    clock::Sleep,
    context::{Context as CallContext, Deadline, Presence},
    error::TimedOut,
    retry::Progress,
    time_limiter::TimeLimit,
};

/// Where an attempt is with the inner layers.
#[derive(Debug, Default)]
pub(super) struct Gate {
    stage: Stage,
    /// The time that the attempt has: the time limiter's, or up to a deadline that comes first.
    limit: Option<TimeLimit>,
    whose: Whose,
    /// Whether a slot of the bulkhead is held.
    has_slot: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Stage {
    #[default]
    New,
    Queued,
    /// The body may run.
    Open,
}

/// What the time of an attempt is about.
#[derive(Debug, Clone, Copy, Default)]
struct Whose {
    /// The time limiter acts.
    limited: bool,
    /// A deadline around the call comes before the limiter's end.
    by_deadline: bool,
}

pin_project_lite::pin_project! {
    /// What an attempt needs once it has to wait, for its slot or in its body.
    #[derive(Default)]
    pub(super) struct Waiting {
        // For the end of the attempt's time.
        #[pin]
        timer: Option<Sleep>,
        #[pin]
        slot: Option<Wait>,
        // What calls further down are told while the body runs.
        published: Option<Deadline>,
    }
}

/// Before the body.
impl Pass<'_> {
    /// Starts an attempt; where nothing is to be waited for, its body may run.
    #[inline]
    pub(super) fn open_gate(&mut self) {
        let layers = &*self.layers;
        self.gate = Gate::default();
        if self.due.is_some() || layers.deadline {
            return;
        }
        if let Some(limiter) = &layers.time_limiter {
            self.gate.limit = limiter.begin(self.admitted_at);
            self.gate.whose.limited = self.gate.limit.is_some();
        }
        if let Some(bulkhead) = layers.bulkhead.as_ref().filter(|bulkhead| bulkhead.is_enabled()) {
            if !bulkhead.take_free(|| self.now()) {
                return;
            }
            self.gate.has_slot = true;
        }
        self.gate.stage = Stage::Open;
    }

    /// Ready once the body may run.
    #[inline]
    pub(super) fn enter(
        &mut self,
        waiting: Pin<&mut Waiting>,
        cx: &mut Context<'_>,
    ) -> Poll<Result<(), BulkheadFull>> {
        match self.gate.stage {
            Stage::Open => Poll::Ready(Ok(())),
            _ => self.inside(|pass| pass.enter_later(waiting, cx)),
        }
    }

    #[cold]
    fn enter_later(
        &mut self,
        mut waiting: Pin<&mut Waiting>,
        cx: &mut Context<'_>,
    ) -> Poll<Result<(), BulkheadFull>> {
        let layers = &*self.layers;
        if self.gate.stage == Stage::New {
            self.gate.stage = Stage::Open;
            if self.due.is_some() || layers.deadline {
                *waiting.as_mut().project().published = self.begin_in_time();
            }
            if let Some(bulkhead) = &self.layers.bulkhead {
                match bulkhead.begin(|| self.now())? {
                    Entry::Admitted(slot) => self.gate.has_slot = slot.lend(),
                    Entry::Queued(queued) => {
                        self.gate.stage = Stage::Queued;
                        waiting.as_mut().project().slot.set(Some(queued.wait()));
                    }
                }
            }
        }
        let mut this = waiting.project();
        if let Some(wait) = this.slot.as_mut().as_pin_mut() {
            let permit = ready!(wait.poll(cx));
            this.slot.set(None);
            if let Some(bulkhead) = &self.layers.bulkhead {
                self.gate.has_slot = Slot::of(bulkhead, permit?).lend();
            }
            self.gate.stage = Stage::Open;
        }
        Poll::Ready(Ok(()))
    }

    /// Sets the time where a deadline around the call, or one for calls further down, plays a part.
    /// Returns what they are told.
    fn begin_in_time(&mut self) -> Option<Deadline> {
        let layers = &*self.layers;
        let now = self.now();
        let own = layers.time_limiter.as_ref().and_then(|limiter| limiter.begin(Some(now)));
        let limit_end = own.and_then(TimeLimit::end);
        let due = self.due.as_ref().filter(|due| limit_end.is_none_or(|end| due.at() < end));
        self.gate.whose = Whose { limited: own.is_some(), by_deadline: due.is_some() };
        self.gate.limit = due.map(|due| TimeLimit::until(due.at(), now)).or(own);
        if layers.deadline { self.published(limit_end) } else { None }
    }

    /// What calls further down are told while the body runs whose time limit ends at `limit`; `None`
    /// where they are told nothing by this one.
    fn published(&self, limit: Option<u64>) -> Option<Deadline> {
        let Layers { retry, time_limiter, clock, .. } = &*self.layers;
        let limit = limit.zip(time_limiter.as_ref().map(TimeLimiter::shared_name));
        let total = self.progress.as_ref().and_then(Progress::end);
        let total = total.zip(retry.as_ref().map(Retry::shared_name));
        let (end, owner) = limit.into_iter().chain(total).min_by_key(|(end, _)| *end)?;
        Some(Deadline::new(end, clock, owner))
    }

    /// When the outer layers let the present attempt in: the inner ones begin at that very time.
    fn now(&self) -> u64 {
        self.admitted_at.unwrap_or_else(|| self.layers.clock.now())
    }
}

/// Around a poll of the body.
impl Pass<'_> {
    /// To be called before the body is polled, which may panic, and [`after_poll`](Self::after_poll)
    /// after it. What is returned goes in between, in any case.
    #[inline]
    pub(super) fn before_poll(&mut self, waiting: &Waiting) -> Option<Presence> {
        self.polling = true;
        self.span.enter();
        waiting.published.as_ref().map(|deadline| CallContext::within(deadline).become_present())
    }

    #[inline]
    pub(super) fn after_poll(&mut self) {
        self.span.leave();
        self.polling = false;
    }
}

/// After the body.
impl Pass<'_> {
    /// Takes note of the end of an attempt that succeeded.
    pub(super) fn leave(&mut self) {
        self.free_slot();
        self.end_limited(true);
    }

    /// Takes note of the end of an attempt that failed; a timeout takes the place of an error that comes
    /// when the time is over.
    pub(super) fn leave_failed(&mut self, waiting: &Waiting) -> Option<TimedOut> {
        self.free_slot();
        if self.shared_time_is_over(waiting) {
            return Some(self.cut_short());
        }
        self.end_limited(false);
        None
    }

    #[inline]
    fn end_limited(&self, success: bool) {
        if self.gate.whose.limited
            && let Some(limiter) = &self.layers.time_limiter
        {
            limiter.end(success);
        }
    }

    /// Frees the slot, if one is held.
    #[inline]
    pub(super) fn free_slot(&mut self) {
        if self.gate.has_slot
            && let Some(bulkhead) = &self.layers.bulkhead
        {
            self.gate.has_slot = false;
            bulkhead.leave();
        }
    }

    /// Gives the slot, if one is held, to who outlives the call.
    pub(super) fn take_slot(&mut self) -> Option<Permit> {
        let bulkhead = self.layers.bulkhead.as_ref().filter(|_| self.gate.has_slot)?;
        self.gate.has_slot = false;
        Some(Slot::held(bulkhead).into_permit())
    }

    /// Ready once the time of an attempt that has to wait is over.
    #[cold]
    pub(super) fn poll_time(
        &mut self,
        waiting: Pin<&mut Waiting>,
        cx: &mut Context<'_>,
    ) -> Poll<TimedOut> {
        if !self.shared_time_is_over(&waiting) {
            let Some(limit) = &mut self.gate.limit else { return Poll::Pending };
            ready!(limit.poll(waiting.project().timer, &self.layers.clock, cx));
        }
        Poll::Ready(self.cut_short())
    }

    /// Whether a time is over that calls further up or down keep to as well.
    ///
    /// Of all that wait for it nobody knows who is woken first. So here the time is read rather than
    /// left to the timer, that each of them counts a timeout, and an error of the body is taken for
    /// what it most likely tells of: that the time is over.
    fn shared_time_is_over(&self, waiting: &Waiting) -> bool {
        if !self.gate.whose.by_deadline && waiting.published.is_none() {
            return false;
        }
        self.gate.limit.is_some_and(|limit| limit.is_over(self.layers.clock.now()))
    }

    /// Counts an attempt whose time is over.
    fn cut_short(&mut self) -> TimedOut {
        self.inside(|pass| {
            let limiter = pass.layers.time_limiter.as_ref();
            match (&pass.due, limiter, pass.gate.limit) {
                (Some(due), ..) if pass.gate.whose.by_deadline => due.exceeded(),
                (_, Some(limiter), Some(limit)) => limiter.expire(limit),
                _ => unreachable!("the time is a deadline's or a limiter's"),
            }
        })
    }
}
