use std::{
    future::Future,
    pin::Pin,
    task::{Context, Poll, ready},
};

use super::{instance::Bulkhead, permit::Permit};
use crate::{BulkheadFull, Error, blocking, clock::Sleep, context::Due};

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

pin_project_lite::pin_project! {
    /// A wait that a deadline around the call may end first; the call leaves the queue then, as in a
    /// stack.
    #[derive(Debug)]
    #[must_use = "dropping the wait leaves the queue"]
    pub(crate) struct WaitInTime {
        #[pin]
        wait: Wait,
        due: Option<Due>,
        #[pin]
        until_due: Option<Sleep>,
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

impl Wait {
    /// Bounds the wait by a deadline on the bulkhead's clock.
    pub(crate) fn before(self, due: Option<Due>) -> WaitInTime {
        let until_due = due.as_ref().map(|due| self.place.bulkhead.clock().sleep_until(due.at()));
        WaitInTime { wait: self, due, until_due }
    }
}

impl Future for WaitInTime {
    type Output = Result<Permit, Error>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let (Some(due), Some(until_due)) = (this.due, this.until_due.as_pin_mut()) else {
            return this.wait.poll(cx).map_err(Into::into);
        };
        let wait = this.wait.project();
        if let Poll::Ready(permit) = wait.place.poll(cx) {
            return Poll::Ready(Ok(permit));
        }
        if until_due.poll(cx).is_ready() {
            return Poll::Ready(Err(due.exceeded().into()));
        }
        ready!(wait.sleep.poll(cx));
        Poll::Ready(wait.place.time_out().map_err(Into::into))
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
