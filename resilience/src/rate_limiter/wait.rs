use std::{
    future::Future,
    pin::{Pin, pin},
    task::{Context, Poll, ready},
};

use tokio::sync::futures::OwnedNotified;

use super::{engine::Reservation, instance::RateLimiter};
use crate::{RequestNotPermitted, blocking, clock::Sleep};

pin_project_lite::pin_project! {
    /// Waits for the turn of a call that was let in but has to wait.
    ///
    /// # Cancel safety
    ///
    /// Dropping it before the turn has come gives the reservation back.
    #[derive(Debug)]
    #[must_use = "dropping the wait gives the turn back"]
    pub(crate) struct Wait {
        place: Place,
        // Made before `poll` looks whether the limiter is disabled: it misses no word of that.
        #[pin]
        disabled: OwnedNotified,
        #[pin]
        sleep: Sleep,
    }
}

/// A place in the line that is given back unless it is taken.
#[derive(Debug)]
struct Place {
    limiter: RateLimiter,
    reservation: Option<Reserved>,
}

/// A reservation and the engine that it counts in.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reserved {
    pub(super) reservation: Reservation,
    pub(super) epoch: u64,
}

impl Wait {
    pub(super) fn new(limiter: RateLimiter, reserved: Reserved) -> Self {
        // The place comes first: it must be given back when there is no runtime to sleep in.
        let place = Place { limiter, reservation: Some(reserved) };
        let disabled = place.limiter.disabled();
        let sleep = place.limiter.clock().sleep_until(reserved.reservation.due);
        Self { place, disabled, sleep }
    }
}

impl Future for Wait {
    type Output = Result<(), RequestNotPermitted>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        // The word of the end is asked for in any case: that leaves the waker with it.
        let told = this.disabled.poll(cx).is_ready();
        if !told && this.place.limiter.is_enabled() {
            ready!(this.sleep.poll(cx));
        }
        this.place.take();
        Poll::Ready(Ok(()))
    }
}

/// Blocks the thread until the turn has come, or the limiter is disabled.
pub(super) fn park(limiter: RateLimiter, reserved: Reserved) {
    let mut place = Place { limiter, reservation: Some(reserved) };
    let mut disabled = pin!(place.limiter.disabled());
    blocking::park(place.limiter.clock(), reserved.reservation.due, |cx| {
        let told = disabled.as_mut().poll(cx).is_ready();
        if told || !place.limiter.is_enabled() { Poll::Ready(()) } else { Poll::Pending }
    });
    place.take();
}

impl Place {
    /// Spends the permissions: the turn has come.
    fn take(&mut self) {
        if let Some(reserved) = self.reservation.take() {
            self.limiter.take_turn(reserved.reservation.permits);
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Some(reserved) = self.reservation.take() {
            self.limiter.give_up_turn(reserved);
        }
    }
}
