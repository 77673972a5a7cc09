use std::{
    pin::Pin,
    task::{Context, Poll},
};

use super::engine::TimeLimit;
use crate::clock::{Clock, Sleep};

pin_project_lite::pin_project! {
    /// Waits for the end of the time that a call has.
    ///
    /// The timer is set when it is first asked, so a call that is ready at once costs no timer. Where
    /// nobody knew the time when the call started, it counts from then as well: such a call costs
    /// no look at the clock either.
    pub(crate) struct Countdown {
        limit: Option<TimeLimit>,
        #[pin]
        timer: Option<Sleep>,
    }
}

impl Countdown {
    /// Without a limit, the time is never over.
    #[inline]
    pub(crate) fn new(limit: Option<TimeLimit>) -> Self {
        Self { limit, timer: None }
    }

    pub(crate) fn limit(&self) -> Option<TimeLimit> {
        self.limit
    }

    /// Begins anew.
    #[inline]
    pub(crate) fn set(self: Pin<&mut Self>, limit: Option<TimeLimit>) {
        let mut this = self.project();
        *this.limit = limit;
        if this.timer.is_some() {
            this.timer.set(None);
        }
    }

    /// Ready once the time is over. `clock` is the one that the call's start was read from.
    pub(crate) fn poll(self: Pin<&mut Self>, clock: &Clock, cx: &mut Context<'_>) -> Poll<()> {
        let this = self.project();
        this.limit.as_mut().map_or(Poll::Pending, |limit| limit.poll(this.timer, clock, cx))
    }
}

impl TimeLimit {
    /// Ready once the time is over. The timer is set when it is first needed.
    pub(crate) fn poll(
        &mut self,
        mut timer: Pin<&mut Option<Sleep>>,
        clock: &Clock,
        cx: &mut Context<'_>,
    ) -> Poll<()> {
        if timer.is_none() {
            let now = clock.now();
            timer.set(Some(clock.sleep_until(now.saturating_add(self.left(now)))));
        }
        timer.as_pin_mut().map_or(Poll::Pending, |timer| timer.poll(cx))
    }
}
