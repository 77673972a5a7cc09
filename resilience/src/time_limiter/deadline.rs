use std::{
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use crate::clock::{Clock, Sleep, saturating_nanos};

pin_project_lite::pin_project! {
    /// The end of the time that a call has.
    ///
    /// The timer is set when it is first asked, so a call that is ready at once costs no timer.
    pub(crate) struct Deadline {
        started: u64,
        limit: Duration,
        #[pin]
        timer: Option<Sleep>,
    }
}

impl Deadline {
    /// `limit` after `started`, nanoseconds on the clock that is given to `poll`.
    pub(crate) fn new(started: u64, limit: Duration) -> Self {
        Self { started, limit, timer: None }
    }

    pub(crate) fn limit(&self) -> Duration {
        self.limit
    }

    /// Ready once the time is over.
    pub(crate) fn poll(self: Pin<&mut Self>, clock: &Clock, cx: &mut Context<'_>) -> Poll<()> {
        let mut this = self.project();
        if this.timer.is_none() {
            let spent = clock.now().saturating_sub(*this.started);
            let left = saturating_nanos(*this.limit).saturating_sub(spent);
            this.timer.set(Some(clock.sleep(Duration::from_nanos(left))));
        }
        match this.timer.as_pin_mut() {
            Some(timer) => timer.poll(cx),
            None => Poll::Pending,
        }
    }
}
