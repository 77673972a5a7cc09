use std::{
    fmt,
    future::Future,
    pin::Pin,
    task::{Context, Poll, ready},
};

use super::Pass;
use crate::{error::Error, rate_limiter::Wait};

pin_project_lite::pin_project! {
    /// Asks the outer layers of an attempt; waits where the rate limiter says so.
    #[must_use = "futures do nothing unless awaited"]
    pub struct Admit<'p, 'l> {
        pass: &'p mut Pass<'l>,
        #[pin]
        turn: Option<Wait>,
    }
}

impl<'p, 'l> Admit<'p, 'l> {
    #[inline]
    pub(super) fn new(pass: &'p mut Pass<'l>) -> Self {
        Self { pass, turn: None }
    }

    #[cold]
    fn poll_turn(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        let this = self.project();
        let Some(turn) = this.turn.as_pin_mut() else { return Poll::Pending };
        ready!(turn.poll(cx))?;
        Poll::Ready(this.pass.begin_turn())
    }
}

impl Future for Admit<'_, '_> {
    type Output = Result<(), Error>;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        if self.turn.is_none() {
            let Some(ticket) = self.as_mut().project().pass.ask()? else {
                return Poll::Ready(Ok(()));
            };
            let mut this = self.as_mut().project();
            let turn = this.pass.layers.rate_limiter.as_ref().map(|limiter| limiter.wait(ticket));
            this.turn.set(turn);
        }
        self.poll_turn(cx)
    }
}

impl fmt::Debug for Admit<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Admit").field("pass", &self.pass).finish_non_exhaustive()
    }
}
