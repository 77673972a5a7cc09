use std::{
    fmt,
    future::Future,
    pin::{Pin, pin},
    task::{Context, Poll, ready},
};

use tokio::sync::futures::OwnedNotified;

use super::{
    global,
    instance::{RateLimiter, Ticket},
};
use crate::{Error, RequestNotPermitted, blocking, clock::Sleep, context::Due};

pin_project_lite::pin_project! {
    /// Waits for the turn of a call that was let in but has to wait, or for a store to let it in.
    ///
    /// # Cancel safety
    ///
    /// Dropping it before the turn has come gives the reservation back. What a store grants meanwhile
    /// is spent.
    #[derive(Debug)]
    #[must_use = "dropping the wait gives the turn back"]
    pub(crate) struct Wait {
        limiter: RateLimiter,
        #[pin]
        for_what: ForWhat,
    }
}

pin_project_lite::pin_project! {
    #[project = ForWhatProj]
    enum ForWhat {
        Turn {
            #[pin]
            turn: Turn,
        },
        Store {
            // Boxed: it speaks with another machine.
            granted: Pin<Box<dyn Future<Output = Result<(), RequestNotPermitted>> + Send + Sync>>,
        },
    }
}

pin_project_lite::pin_project! {
    /// Waits for a turn in this process.
    #[derive(Debug)]
    struct Turn {
        place: Place,
        // Made before the turn is looked up: it misses no word of a move.
        #[pin]
        moved: OwnedNotified,
        #[pin]
        sleep: Sleep,
    }
}

pin_project_lite::pin_project! {
    /// A wait after which nothing starts that a deadline around the call no longer lets start.
    #[derive(Debug)]
    #[must_use = "dropping the wait gives the turn back"]
    pub(crate) struct WaitInTime {
        #[pin]
        wait: Wait,
        due: Option<Due>,
    }
}

/// A place in the line that is given back unless it is taken.
#[derive(Debug)]
struct Place {
    limiter: RateLimiter,
    ticket: u64,
    taken: bool,
}

impl Wait {
    #[allow(clippy::needless_pass_by_value)] // it is used up
    pub(super) fn new(limiter: RateLimiter, ticket: Ticket) -> Self {
        let for_what = match ticket {
            Ticket::Turn(ticket) => {
                ForWhat::Turn { turn: Turn::new(Place::new(limiter.clone(), ticket)) }
            }
            Ticket::Store { permits, due } => {
                ForWhat::Store { granted: Box::pin(granted(limiter.clone(), permits, due)) }
            }
        };
        Self { limiter, for_what }
    }

    /// Looks at a deadline on the limiter's clock once the turn has come.
    pub(crate) fn before(self, due: Option<Due>) -> WaitInTime {
        WaitInTime { wait: self, due }
    }
}

async fn granted(limiter: RateLimiter, permits: u32, due: u64) -> Result<(), RequestNotPermitted> {
    let asked = global::ask(&limiter, permits, due, |until| limiter.clock().sleep_until(until));
    match asked.await? {
        None => Ok(()),
        Some(ticket) => limiter.wait(ticket).await,
    }
}

impl Turn {
    fn new(place: Place) -> Self {
        // The place comes first: it must be given back when there is no runtime to sleep in.
        let moved = place.limiter.moved();
        let sleep = place.sleep();
        Self { place, moved, sleep }
    }
}

impl Future for WaitInTime {
    type Output = Result<(), Error>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        ready!(this.wait.as_mut().poll(cx))?;
        // The turn was in time; its waker may have been late.
        let clock = this.wait.limiter.clock();
        let in_time = this.due.as_ref().map_or(Ok(()), |due| due.in_time(clock));
        Poll::Ready(in_time.map_err(Into::into))
    }
}

impl Future for Wait {
    type Output = Result<(), RequestNotPermitted>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match self.project().for_what.project() {
            ForWhatProj::Turn { turn } => turn.poll(cx).map(Ok),
            ForWhatProj::Store { granted } => granted.as_mut().poll(cx),
        }
    }
}

impl Future for Turn {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        // The word of a move is asked for in any case: that leaves the waker with it.
        while this.moved.as_mut().poll(cx).is_ready() {
            this.moved.set(this.place.limiter.moved());
            this.sleep.set(this.place.sleep());
        }
        ready!(this.sleep.poll(cx));
        this.place.take();
        Poll::Ready(())
    }
}

impl fmt::Debug for ForWhat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Turn { .. } => "Turn",
            Self::Store { .. } => "Store",
        })
    }
}

/// Blocks the thread until the turn has come or the store has decided, or the limiter is disabled.
pub(super) fn park(limiter: &RateLimiter, ticket: Ticket) -> Result<(), RequestNotPermitted> {
    let mut ticket = Some(ticket);
    while let Some(next) = ticket {
        ticket = match next {
            Ticket::Turn(turn) => {
                park_for_turn(limiter.clone(), turn);
                None
            }
            Ticket::Store { permits, due } => global::ask_blocking(limiter, permits, due)?,
        };
    }
    Ok(())
}

fn park_for_turn(limiter: RateLimiter, ticket: u64) {
    let mut place = Place::new(limiter, ticket);
    loop {
        let mut moved = pin!(place.limiter.moved());
        let due = place.due();
        let word = blocking::park(place.limiter.clock(), due, |cx| moved.as_mut().poll(cx));
        if word.is_none() {
            break place.take();
        }
    }
}

impl Place {
    fn new(limiter: RateLimiter, ticket: u64) -> Self {
        Self { limiter, ticket, taken: false }
    }

    /// Whoever is not in the line any more goes on at once.
    fn due(&self) -> u64 {
        self.limiter.turn_of(self.ticket).unwrap_or(0)
    }

    fn sleep(&self) -> Sleep {
        self.limiter.clock().sleep_until(self.due())
    }

    /// Spends the permissions: the turn has come.
    fn take(&mut self) {
        self.taken = true;
        self.limiter.take_turn(self.ticket);
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if !self.taken {
            self.limiter.give_up_turn(self.ticket);
        }
    }
}
