use std::{
    future::Future,
    pin::Pin,
    task::{Context, Poll, ready},
};

use super::{Bulkhead, Entry, Slot, wait::WaitInTime};
use crate::{CallError, Error};

pin_project_lite::pin_project! {
    /// A call that holds a slot, which is asked for at the first poll.
    ///
    /// Written by hand, because an `async fn` moves the future that it is given once more.
    #[must_use = "futures do nothing unless awaited"]
    pub(super) struct Call<'b, F> {
        bulkhead: &'b Bulkhead,
        stage: Stage,
        #[pin]
        wait: Option<WaitInTime>,
        // The future goes before its slot: whoever gets the slot next must not find it still running.
        #[pin]
        future: F,
        slot: Option<Slot<'b>>,
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Stage {
    New,
    Waiting,
    Running,
}

impl<'b, F> Call<'b, F> {
    #[inline]
    pub(super) fn new(bulkhead: &'b Bulkhead, future: F) -> Self {
        Self { bulkhead, stage: Stage::New, wait: None, future, slot: None }
    }

    /// Ready once the slot is there, or is not going to be.
    fn enter(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        let mut this = self.project();
        let bulkhead = *this.bulkhead;
        if *this.stage == Stage::New {
            let due = bulkhead.due()?;
            match bulkhead.begin(|| bulkhead.clock().now())? {
                Entry::Admitted(slot) => *this.slot = Some(slot),
                Entry::Queued(queued) => this.wait.set(Some(queued.wait().before(due))),
            }
            *this.stage = Stage::Waiting;
        }
        if let Some(wait) = this.wait.as_mut().as_pin_mut() {
            let permit = ready!(wait.poll(cx))?;
            *this.slot = Some(Slot::of(bulkhead, permit));
            this.wait.set(None);
        }
        *this.stage = Stage::Running;
        Poll::Ready(Ok(()))
    }
}

impl<F: Future<Output = Result<T, E>>, T, E> Future for Call<'_, F> {
    type Output = Result<T, CallError<E>>;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        if self.stage != Stage::Running {
            ready!(self.as_mut().enter(cx)).map_err(CallError::Resilience)?;
        }
        let this = self.project();
        let outcome = ready!(this.future.poll(cx));
        *this.slot = None;
        Poll::Ready(outcome.map_err(CallError::Inner))
    }
}
