//! Calls that block their thread: layers within layers on the thread's own stack, in any order.

use std::{cell::Cell, ops::ControlFlow, sync::Arc};

use super::layer::{Layer, Order};
use crate::{
    CircuitBreaker, Error, Rules,
    circuit_breaker::{Admission, Report},
    context::{self, Context, Due},
    error::CallError,
    trace::{CallSpan, blocking_call},
};

/// Makes a call through the layers of a stack.
pub(super) fn call<T, E>(
    order: &Order,
    rules: &Rules<T, E>,
    operation: impl FnMut() -> Result<T, E>,
) -> Result<T, CallError<E>> {
    if let Some(limiter) = order.layers.iter().find_map(|layer| match layer {
        Layer::TimeLimiter(limiter) => Some(limiter),
        _ => None,
    }) {
        panic!(
            "the time limiter '{}' cannot cut a blocking call short: run the call on a \
             ThreadPoolBulkhead within an async one, `stack.call(|| pool.call(..))`",
            limiter.name()
        );
    }
    let in_body = &Cell::new(false);
    let through = || {
        blocking_call(order, |span| {
            let due = context::due(&order.clock);
            let (end, is_late) = (None, false);
            let mut through = Through { order, rules, operation, in_body, due, end, is_late, span };
            through.in_time()?;
            through.layers(&order.layers)
        })
    };
    match order.context() {
        Some(context) => context.enter(through),
        None => through(),
    }
}

/// A call on its way.
struct Through<'c, T, E, O> {
    order: &'c Order,
    rules: &'c Rules<T, E>,
    operation: O,
    /// Set while the body runs: a call that unwinds then has panicked in it.
    in_body: &'c Cell<bool>,
    /// The deadline around the call, if there is one.
    due: Option<Due>,
    /// The first end of the retries around the body, and whose it is.
    end: Option<(u64, Arc<str>)>,
    /// Set when the deadline kept this attempt's body from starting: the callee is not to blame.
    is_late: bool,
    span: &'c mut CallSpan,
}

impl<T, E, O: FnMut() -> Result<T, E>> Through<'_, T, E, O> {
    fn layers(&mut self, layers: &[Layer]) -> Result<T, CallError<E>> {
        let Some((layer, inner)) = layers.split_first() else { return self.body() };
        match layer {
            Layer::Retry(retry) => {
                let deadline = self.due.as_ref().map(Due::at);
                let mut progress = None;
                retry.begin(&mut progress, deadline);
                let Some(progress) = &mut progress else { return self.layers(inner) };
                let around = self.end.clone();
                if let Some(end) = progress.end()
                    && around.as_ref().is_none_or(|(first, _)| end <= *first)
                {
                    self.end = Some((end, Arc::clone(retry.shared_name())));
                }
                let outcome = loop {
                    let outcome = match self.in_time() {
                        Ok(()) => self.layers(inner),
                        Err(over) => Err(over),
                    };
                    self.is_late = false;
                    match retry.settle(progress, outcome, self.rules) {
                        ControlFlow::Break(result) => break result,
                        ControlFlow::Continue(wait) => retry.back_off_blocking(wait),
                    }
                    self.span.again();
                };
                self.end = around;
                outcome
            }
            Layer::CircuitBreaker(breaker) if breaker.is_enabled() => {
                let admission = breaker.begin(self.order.clock.now()).map_err(refused)?;
                let call = Admitted { breaker, admission: Some(admission), in_body: self.in_body };
                let outcome = self.layers(inner);
                if !self.is_late {
                    call.end(self.rules.report(&outcome, || breaker.config()));
                }
                outcome
            }
            Layer::RateLimiter { limiter, permits } => {
                let due = self.due.as_ref();
                limiter.acquire_blocking_before(*permits, due).map_err(refused)?;
                self.in_time()?;
                self.layers(inner)
            }
            Layer::Bulkhead(bulkhead) => {
                let due = self.due.as_ref().map(Due::at);
                let permit = bulkhead.acquire_blocking_before(due).map_err(refused)?;
                match (permit, &self.due) {
                    (None, Some(due)) => Err(refused(due.exceeded())),
                    // Held for its drop.
                    (_permit, _) => self.layers(inner),
                }
            }
            Layer::CircuitBreaker(_) | Layer::TimeLimiter(_) => self.layers(inner),
        }
    }

    fn body(&mut self) -> Result<T, CallError<E>> {
        self.in_body.set(true);
        let result = match &self.end {
            Some((end, owner)) if self.order.deadline => {
                let context = Context::present().unwrap_or_default();
                context.until(*end, &self.order.clock, owner).enter(&mut self.operation)
            }
            _ => (self.operation)(),
        };
        self.in_body.set(false);
        match (result, &self.due) {
            // What an error most likely tells of then.
            (Err(_), Some(due)) if due.is_over(self.order.clock.now()) => {
                Err(refused(due.exceeded()))
            }
            (result, _) => result.map_err(CallError::Inner),
        }
    }

    /// Nobody is asked once the deadline around the call is over.
    fn in_time(&mut self) -> Result<(), CallError<E>> {
        match &self.due {
            Some(due) if due.is_over(self.order.clock.now()) => {
                self.is_late = true;
                Err(refused(due.exceeded()))
            }
            _ => Ok(()),
        }
    }
}

fn refused<E>(refusal: impl Into<Error>) -> CallError<E> {
    CallError::Resilience(refusal.into())
}

/// A call that a circuit breaker has let in: says what its end was if nobody else does.
struct Admitted<'c> {
    breaker: &'c CircuitBreaker,
    admission: Option<Admission>,
    in_body: &'c Cell<bool>,
}

impl Admitted<'_> {
    fn end(mut self, report: Report) {
        if let Some(admission) = self.admission.take() {
            self.breaker.end(admission, report, self.breaker.clock().now());
        }
    }
}

impl Drop for Admitted<'_> {
    fn drop(&mut self) {
        let Some(admission) = self.admission.take() else { return };
        self.breaker.abandon(admission, self.in_body.get(), self.breaker.clock().now());
    }
}
