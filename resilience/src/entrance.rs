//! A call through one layer that lets it in, at once or when its turn comes.

use std::{
    future::Future,
    pin::Pin,
    task::{Context, Poll, ready},
};

use crate::{
    error::{CallError, Error},
    trace::{Named, Names},
};

/// What a call says that is polled after its end, as an `async fn` would.
pub(crate) const POLLED_AGAIN: &str = "a call is not polled after it has ended";

/// A layer that lets calls in.
pub(crate) trait Entrance {
    /// What a call holds while it runs.
    type Held<'e>
    where
        Self: 'e;
    /// The wait for a turn.
    type Wait: Future<Output = Result<Self::Turn, Error>>;
    /// What a wait ends in.
    type Turn;

    /// Lets a call in, or has it wait.
    fn enter(&self) -> Result<Entered<Self::Held<'_>, Self::Wait>, Error>;

    /// What a call holds whose turn has come.
    fn hold(&self, turn: Self::Turn) -> Self::Held<'_>;
}

pub(crate) enum Entered<H, W> {
    In(H),
    Waits(Pin<Box<W>>),
}

impl<H, W> Entered<H, W> {
    /// Boxed: a call that need not wait is not to be longer, and slower to move, for those that do.
    #[cold]
    #[inline(never)]
    pub(crate) fn waits(wait: impl FnOnce() -> W) -> Self {
        Self::Waits(Box::pin(wait()))
    }
}

pin_project_lite::pin_project! {
    /// A call that the layer is asked for at the first poll.
    ///
    /// Written by hand, because an `async fn` moves the future that it is given once more.
    #[must_use = "futures do nothing unless awaited"]
    pub(crate) struct Inside<'e, E: Entrance, F> {
        entrance: &'e E,
        wait: Option<Pin<Box<E::Wait>>>,
        // The future goes before what is held for it: whoever gets a slot next must not find it still
        // running.
        #[pin]
        future: Option<F>,
        held: Option<E::Held<'e>>,
    }
}

impl<'e, E: Entrance, F> Inside<'e, E, F> {
    #[inline]
    pub(crate) fn new(entrance: &'e E, future: F) -> Self {
        Self { entrance, wait: None, future: Some(future), held: None }
    }
}

/// Ready once the call is in, or is not going to be.
#[inline]
fn enter<'e, E: Entrance>(
    entrance: &'e E,
    wait: &mut Option<Pin<Box<E::Wait>>>,
    cx: &mut Context<'_>,
) -> Poll<Result<E::Held<'e>, Error>> {
    if wait.is_none() {
        match entrance.enter()? {
            Entered::In(held) => return Poll::Ready(Ok(held)),
            Entered::Waits(turn) => *wait = Some(turn),
        }
    }
    await_turn(entrance, wait, cx)
}

#[cold]
fn await_turn<'e, E: Entrance>(
    entrance: &'e E,
    wait: &mut Option<Pin<Box<E::Wait>>>,
    cx: &mut Context<'_>,
) -> Poll<Result<E::Held<'e>, Error>> {
    let Some(turn) = wait else { return Poll::Pending };
    let turn = ready!(turn.as_mut().poll(cx));
    // However it has ended: a place in a queue is not kept by a call that is over.
    *wait = None;
    Poll::Ready(turn.map(|turn| entrance.hold(turn)))
}

impl<E: Entrance + Named, F> Named for Inside<'_, E, F> {
    fn names(&self) -> Names<'_> {
        self.entrance.names()
    }
}

impl<G: Entrance, F: Future<Output = Result<T, E>>, T, E> Future for Inside<'_, G, F> {
    type Output = Result<T, CallError<E>>;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        let future = this.future.as_mut().as_pin_mut().expect(POLLED_AGAIN);
        // Here meanwhile, so that it is given back should the future panic.
        let held = match this.held.take() {
            Some(held) => held,
            None => match ready!(enter(*this.entrance, this.wait, cx)) {
                Ok(held) => held,
                Err(refusal) => {
                    this.future.set(None);
                    return Poll::Ready(Err(CallError::Resilience(refusal)));
                }
            },
        };
        match future.poll(cx) {
            Poll::Pending => {
                *this.held = Some(held);
                Poll::Pending
            }
            // By itself, so that the value is not moved from one kind of result to the next.
            Poll::Ready(Ok(value)) => {
                this.future.set(None);
                drop(held);
                Poll::Ready(Ok(value))
            }
            Poll::Ready(Err(error)) => {
                this.future.set(None);
                drop(held);
                Poll::Ready(Err(CallError::Inner(error)))
            }
        }
    }
}
