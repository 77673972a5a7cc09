//! Calls through layers in an order of the user's.
//!
//! The order is known at run time only, so there is no future per layer: one future descends
//! through the layers to the body and carries the outcome outwards, and [`Levels`] keeps what the
//! call holds of each. Only the body is pinned here, as it is, so the call is `Send` when the body is.

mod levels;
// Without the feature, instances would not follow the tests' paused clock.
#[cfg(all(test, feature = "test-util"))]
mod tests;

use std::{
    future::Future,
    ops::ControlFlow,
    pin::Pin,
    task::{Context, Poll},
};

use self::levels::{Cut, Levels};
use super::layer::Order;
use crate::{Rules, error::CallError};

pin_project_lite::pin_project! {
    /// One call through layers in any order.
    ///
    /// It allocates the list of what it holds, and a box for every time limit and every wait.
    ///
    /// # Cancel safety
    ///
    /// Dropping it gives back what it holds, innermost first.
    #[must_use = "futures do nothing unless awaited"]
    pub(super) struct AnyOrder<'c, O, A, F, T, E> {
        // The body goes before what is held for it: whoever gets a slot next must not find it running.
        #[pin]
        body: Option<F>,
        levels: Levels<'c>,
        operation: O,
        can_repeat: A,
        rules: &'c Rules<T, E>,
    }
}

impl<'c, O, A, F, T, E> AnyOrder<'c, O, A, F, T, E>
where
    O: FnMut(bool) -> F,
    F: Future<Output = Result<T, E>>,
{
    /// `operation` is told whether no attempt can follow; `can_repeat` is asked after each.
    pub(super) fn new(
        order: &'c Order,
        rules: &'c Rules<T, E>,
        operation: O,
        can_repeat: A,
    ) -> Self {
        Self { body: None, levels: Levels::new(order), operation, can_repeat, rules }
    }

    /// Enters what is left of the layers, then polls the body.
    fn poll_inwards(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<T, CallError<E>>> {
        let mut this = self.project();
        match this.levels.enter(cx) {
            Poll::Pending => return Poll::Pending,
            Poll::Ready(Err(refusal)) => return Poll::Ready(Err(CallError::Resilience(refusal))),
            Poll::Ready(Ok(())) => {}
        }
        if this.body.is_none() {
            this.levels.publish();
        }
        let last = this.levels.is_last_attempt();
        this.levels.in_body = true;
        let polled = this.levels.tell(|| {
            if this.body.is_none() {
                // Here, so that a panic of the closure is one of the body.
                this.body.set(Some((this.operation)(last)));
            }
            this.body.as_mut().as_pin_mut().map_or(Poll::Pending, |body| body.poll(cx))
        });
        this.levels.in_body = false;
        polled.map_err(CallError::Inner)
    }
}

impl<O, A, F, T, E> Future for AnyOrder<'_, O, A, F, T, E>
where
    O: FnMut(bool) -> F,
    A: Fn() -> bool,
    F: Future<Output = Result<T, E>>,
{
    type Output = Result<T, CallError<E>>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.as_mut().project().levels.span.enter();
        let polled = self.as_mut().poll_inside(cx);
        let span = &mut self.project().levels.span;
        span.leave();
        if let Poll::Ready(result) = &polled {
            span.end(result);
        }
        polled
    }
}

impl<O, A, F, T, E> AnyOrder<'_, O, A, F, T, E>
where
    O: FnMut(bool) -> F,
    A: Fn() -> bool,
    F: Future<Output = Result<T, E>>,
{
    fn poll_inside(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Result<T, CallError<E>>> {
        loop {
            let inwards = self.as_mut().poll_inwards(cx);
            let mut this = self.as_mut().project();
            // Asked after the body and the waits: what succeeds in the same poll wins.
            let cut = match &inwards {
                Poll::Ready(Ok(_)) => None,
                Poll::Ready(Err(_)) => this.levels.cut_by_due(),
                Poll::Pending => match this.levels.cut(cx) {
                    None => return Poll::Pending,
                    cut => cut,
                },
            };
            this.body.set(None);
            let outcome = match (cut, inwards) {
                (Some(Cut { level, error }), _) => {
                    this.levels.abandon(level);
                    Err(CallError::Resilience(error.into()))
                }
                (None, Poll::Ready(outcome)) => outcome,
                (None, Poll::Pending) => return Poll::Pending,
            };
            let rules = this.rules.while_repeatable((this.can_repeat)());
            if let ControlFlow::Break(result) = this.levels.leave(outcome, &rules) {
                return Poll::Ready(result);
            }
            this.levels.span.again();
        }
    }
}
