use std::{
    future::Future,
    pin::Pin,
    task::{Context, Poll, ready},
};

use super::{instance::Bulkhead, permit::Permit};
use crate::{BulkheadFull, clock::Sleep};

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
struct Place {
    bulkhead: Bulkhead,
    id: u64,
    answered: bool,
}

impl Wait {
    /// Waits until `end` on the bulkhead's clock.
    pub(super) fn new(bulkhead: Bulkhead, id: u64, end: u64) -> Self {
        // The place comes first: it must be given up when there is no runtime to sleep in.
        let place = Place { bulkhead, id, answered: false };
        let sleep = place.bulkhead.clock().sleep_until(end);
        Self { place, sleep }
    }
}

impl Future for Wait {
    type Output = Result<Permit, BulkheadFull>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let place = this.place;
        let answer = match place.bulkhead.poll_place(place.id, cx.waker().clone()) {
            Poll::Ready(permit) => Ok(permit),
            Poll::Pending => {
                ready!(this.sleep.poll(cx));
                place.bulkhead.time_out(place.id)
            }
        };
        place.answered = true;
        Poll::Ready(answer)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if !self.answered {
            self.bulkhead.give_up(self.id);
        }
    }
}
