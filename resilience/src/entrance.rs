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
    Waits(W),
}

pin_project_lite::pin_project! {
    /// A call that the layer is asked for at the first poll.
    ///
    /// Written by hand, because an `async fn` moves the future that it is given once more.
    #[must_use = "futures do nothing unless awaited"]
    pub(crate) struct Inside<'e, E: Entrance, F> {
        entrance: &'e E,
        stage: Stage,
        #[pin]
        wait: Option<E::Wait>,
        // The future goes before what is held for it: whoever gets a slot next must not find it still
        // running.
        #[pin]
        future: Option<F>,
        held: Option<E::Held<'e>>,
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Stage {
    New,
    Waiting,
    Running,
}

impl<'e, E: Entrance, F> Inside<'e, E, F> {
    #[inline]
    pub(crate) fn new(entrance: &'e E, future: F) -> Self {
        Self { entrance, stage: Stage::New, wait: None, future: Some(future), held: None }
    }

    /// Ready once the call is in, or is not going to be.
    fn enter(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        let mut this = self.project();
        let entrance = *this.entrance;
        if *this.stage == Stage::New {
            match entrance.enter()? {
                Entered::In(held) => *this.held = Some(held),
                Entered::Waits(wait) => this.wait.set(Some(wait)),
            }
            *this.stage = Stage::Waiting;
        }
        if let Some(wait) = this.wait.as_mut().as_pin_mut() {
            let turn = ready!(wait.poll(cx))?;
            *this.held = Some(entrance.hold(turn));
            this.wait.set(None);
        }
        *this.stage = Stage::Running;
        Poll::Ready(Ok(()))
    }
}

impl<E: Entrance + Named, F> Named for Inside<'_, E, F> {
    fn names(&self) -> Names<'_> {
        self.entrance.names()
    }
}

impl<G: Entrance, F: Future<Output = Result<T, E>>, T, E> Future for Inside<'_, G, F> {
    type Output = Result<T, CallError<E>>;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        if self.stage != Stage::Running
            && let Err(refusal) = ready!(self.as_mut().enter(cx))
        {
            self.project().future.set(None);
            return Poll::Ready(Err(CallError::Resilience(refusal)));
        }
        let mut this = self.project();
        let future = this.future.as_mut().as_pin_mut().expect(POLLED_AGAIN);
        // Here meanwhile, so that it is given back should the future panic.
        let held = this.held.take();
        match future.poll(cx) {
            Poll::Pending => {
                *this.held = held;
                Poll::Pending
            }
            Poll::Ready(outcome) => {
                this.future.set(None);
                drop(held);
                Poll::Ready(outcome.map_err(CallError::Inner))
            }
        }
    }
}
