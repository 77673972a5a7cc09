use std::{
    fmt,
    future::Future,
    pin::Pin,
    task::{Context, Poll},
};

use super::{
    Pass,
    body::{Body, Run},
    gate::Waiting,
};
use crate::error::CallError;

pin_project_lite::pin_project! {
    /// The inner layers around a body: a time limit, within it the wait for a bulkhead slot, within
    /// that the body.
    ///
    /// One future with plain fields instead of one per layer: a body that is ready at once costs a
    /// slot taken and given back, and no timer. The slot is the pass's, which goes after the body:
    /// whoever gets the slot next must not find it still running.
    #[must_use = "futures do nothing unless awaited"]
    pub struct Protect<'p, 'l, B> {
        pass: &'p mut Pass<'l>,
        #[pin]
        waiting: Waiting,
        #[pin]
        body: B,
    }
}

impl<'p, 'l, B> Protect<'p, 'l, B> {
    #[inline]
    pub(super) fn new(pass: &'p mut Pass<'l>, body: B) -> Self {
        Self { pass, waiting: Waiting::default(), body }
    }
}

impl<B: Body> Future for Protect<'_, '_, B> {
    type Output = Result<B::Value, CallError<B::Error>>;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        let pass = this.pass;
        let polled = match pass.enter(this.waiting.as_mut(), cx) {
            Poll::Ready(Ok(())) => {
                let polled = {
                    let _present = pass.before_poll(&this.waiting);
                    this.body.poll_body(&mut Run { pass }, cx)
                };
                pass.after_poll();
                polled
            }
            Poll::Ready(Err(full)) => Poll::Ready(Err(CallError::Resilience(full.into()))),
            Poll::Pending => Poll::Pending,
        };
        match polled {
            Poll::Ready(Ok(value)) => {
                pass.leave();
                Poll::Ready(Ok(value))
            }
            Poll::Ready(Err(error)) => match pass.leave_failed(&this.waiting) {
                None => Poll::Ready(Err(error)),
                Some(over) => Poll::Ready(Err(CallError::Resilience(over.into()))),
            },
            Poll::Pending => {
                let over = pass.poll_time(this.waiting, cx);
                over.map(|over| Err(CallError::Resilience(over.into())))
            }
        }
    }
}

impl<B> fmt::Debug for Protect<'_, '_, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Protect").field("pass", &self.pass).finish_non_exhaustive()
    }
}
