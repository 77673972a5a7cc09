use std::{
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use super::engine::TimeLimit;
use crate::clock::{Clock, Sleep, saturating_nanos};

pin_project_lite::pin_project! {
    /// Waits for the end of the time that a call has.
    ///
    /// The timer is set when it is first asked, so a call that is ready at once costs no timer.
    pub(crate) struct Countdown {
        limit: TimeLimit,
        #[pin]
        timer: Option<Sleep>,
    }
}

impl Countdown {
    pub(super) fn new(limit: TimeLimit) -> Self {
        Self { limit, timer: None }
    }

    /// Counts down to `end`, a time on the clock that `now` was read from.
    pub(crate) fn until(end: u64, now: u64) -> Self {
        Self::new(TimeLimit::new(now, end.saturating_sub(now)))
    }

    /// When the time is over.
    pub(crate) fn end(&self) -> u64 {
        self.limit.end()
    }

    pub(crate) fn limit(&self) -> Duration {
        self.limit.limit()
    }

    /// Ready once the time is over. `clock` is the one that the call's start was read from.
    pub(crate) fn poll(self: Pin<&mut Self>, clock: &Clock, cx: &mut Context<'_>) -> Poll<()> {
        let mut this = self.project();
        if this.timer.is_none() {
            let now = clock.now();
            let end = now.saturating_add(saturating_nanos(this.limit.left(now)));
            this.timer.set(Some(clock.sleep_until(end)));
        }
        match this.timer.as_pin_mut() {
            Some(timer) => timer.poll(cx),
            None => Poll::Pending,
        }
    }
}
