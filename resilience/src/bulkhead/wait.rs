use std::{
    future::Future,
    pin::Pin,
    task::{Context, Poll, ready},
};

use super::{instance::Bulkhead, permit::Permit};
use crate::{BulkheadFull, blocking, clock::Sleep};

pin_project_lite::pin_project! {
    /// Waits in the queue for a slot.
    ///
    /// # Cancel safety
    ///
    /// Dropping it leaves the queue. A slot that had just been granted goes to the next in line.
    #[derive(Debug)]
    #[must_use = "dropping the wait leaves the queue"]
    pub(crate) struct Wait {
        place: Place,
        #[pin]
        sleep: Sleep,
    }
}

/// A place in the queue that is given up unless it ends with an answer.
#[derive(Debug)]
pub(super) struct Place {
    bulkhead: Bulkhead,
    id: u64,
    answered: bool,
}

impl Wait {
    /// Waits until `end` on the bulkhead's clock.
    pub(super) fn new(place: Place, end: u64) -> Self {
        // The place is there first: it must be given up when there is no runtime to sleep in.
        let sleep = place.bulkhead.clock().sleep_until(end);
        Self { place, sleep }
    }
}

impl Future for Wait {
    type Output = Result<Permit, BulkheadFull>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let place = this.place;
        if let Poll::Ready(permit) = place.poll(cx) {
            return Poll::Ready(Ok(permit));
        }
        ready!(this.sleep.poll(cx));
        Poll::Ready(place.time_out())
    }
}

impl Place {
    pub(super) fn new(bulkhead: Bulkhead, id: u64) -> Self {
        Self { bulkhead, id, answered: false }
    }

    /// Blocks the thread until the slot is there, or until `end`: `None` then.
    pub(super) fn park(&mut self, end: u64) -> Option<Permit> {
        let clock = self.bulkhead.clock().clone();
        blocking::park(&clock, end, |cx| self.poll(cx))
    }

    fn poll(&mut self, cx: &Context<'_>) -> Poll<Permit> {
        let permit = ready!(self.bulkhead.poll_place(self.id, cx.waker().clone()));
        self.answered = true;
        Poll::Ready(permit)
    }

    pub(super) fn time_out(&mut self) -> Result<Permit, BulkheadFull> {
        let answer = self.bulkhead.time_out(self.id);
        self.answered = true;
        answer
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if !self.answered {
            self.bulkhead.give_up(self.id);
        }
    }
}
