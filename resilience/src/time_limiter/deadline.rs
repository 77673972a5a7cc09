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
    pub(crate) struct Deadline {
        limit: TimeLimit,
        #[pin]
        timer: Option<Sleep>,
    }
}

impl Deadline {
    pub(super) fn new(limit: TimeLimit) -> Self {
        Self { limit, timer: None }
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
