use std::{
    future::Future,
    ops::ControlFlow,
    pin::Pin,
    task::{Context, Poll, ready},
};

use super::super::layer::{Layer, Order};
use crate::{
    Rules, Sleep, TimeLimiter, bulkhead,
    circuit_breaker::Admission,
    context::{self, Context as CallContext, Due, longest_wait},
    error::{CallError, Error, TimedOut},
    rate_limiter,
    retry::Progress,
    time_limiter::{Countdown, TimeLimit},
    trace::{CallSpan, Named},
};

/// What a call holds of the layers that it has entered, the outermost first.
///
/// The innermost may be one that it waits at. Whatever is left when this is dropped is given back,
/// innermost first.
pub(super) struct Levels<'c> {
    order: &'c Order,
    held: Vec<Held>,
    /// Set while the body is being polled: if the call is dropped then, the body panicked.
    pub(super) in_body: bool,
    /// The deadline around the call, if there is one.
    due: Option<Due>,
    /// The wait for it, once something in an attempt waits.
    until_due: Option<Pin<Box<Countdown>>>,
    /// What calls further down are told while the body runs.
    published: Option<CallContext>,
    pub(super) span: CallSpan,
}

/// What a call holds of one layer.
enum Held {
    /// The layer wants nothing more of the call: it is disabled, say, or the permission is spent.
    Nothing,
    /// The attempts so far.
    Attempts(Progress),
    /// The attempts so far, and the wait before the next one; none is a turn of the runtime.
    BackOff(Progress, Option<Pin<Box<Sleep>>>),
    Admission(Admission),
    Turn(Pin<Box<rate_limiter::Wait>>),
    Countdown(Pin<Box<Countdown>>),
    Queued(Pin<Box<bulkhead::Wait>>),
    Slot(#[expect(dead_code, reason = "held for its drop")] bulkhead::Permit),
}

/// The end of the time that a level and all within it have.
pub(super) struct Cut {
    pub(super) level: usize,
    pub(super) error: TimedOut,
}

impl<'c> Levels<'c> {
    pub(super) fn new(order: &'c Order) -> Self {
        Self {
            order,
            held: Vec::with_capacity(order.layers.len()),
            in_body: false,
            due: context::due(&order.clock),
            until_due: None,
            published: None,
            span: CallSpan::start(|| order.names()),
        }
    }

    /// Whether no attempt can follow the one that comes now.
    pub(super) fn is_last_attempt(&self) -> bool {
        self.held.iter().all(|held| match held {
            Held::Attempts(progress) => progress.is_last_attempt(),
            _ => true,
        })
    }

    /// Ends the wait that there may be, and enters the layers that are left.
    pub(super) fn enter(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        ready!(self.wait(cx))?;
        let mut time = None;
        while let Some(layer) = self.order.layers.get(self.held.len()) {
            let now = match time {
                Some(now) => now,
                None => self.in_time()?,
            };
            let held = begin(layer, self.due.as_ref(), now)?;
            self.held.push(held);
            time = Some(now);
            if self.is_waiting() {
                ready!(self.wait(cx))?;
                time = None;
            }
        }
        Poll::Ready(Ok(()))
    }

    fn is_waiting(&self) -> bool {
        matches!(self.held.last(), Some(Held::BackOff(..) | Held::Turn(_) | Held::Queued(_)))
    }

    /// Waits at the innermost layer, if the call has to.
    fn wait(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        let Some(innermost) = self.held.last_mut() else { return Poll::Ready(Ok(())) };
        let waited = match innermost {
            Held::BackOff(progress, wait) => {
                match wait {
                    Some(sleep) => ready!(sleep.as_mut().poll(cx)),
                    // Without a wait nothing else would let other tasks run, or a time limit act.
                    None => ready!(tokio::task::coop::poll_proceed(cx)).made_progress(),
                }
                Ok(Held::Attempts(progress.clone()))
            }
            Held::Turn(turn) => {
                ready!(turn.as_mut().poll(cx)).map(|()| Held::Nothing).map_err(Error::from)
            }
            Held::Queued(wait) => {
                ready!(wait.as_mut().poll(cx)).map(Held::Slot).map_err(Error::from)
            }
            _ => return Poll::Ready(Ok(())),
        };
        Poll::Ready(match waited {
            Ok(held) => {
                // With a slot the body is asked in any case: a success wins.
                let has_slot = matches!(held, Held::Slot(_));
                *innermost = held;
                if has_slot { Ok(()) } else { self.in_time().map(|_| ()) }
            }
            Err(refusal) => {
                self.held.pop();
                Err(refusal)
            }
        })
    }

    /// The time, or the end of the call where the deadline around it is over: nobody is asked then.
    fn in_time(&mut self) -> Result<u64, Error> {
        let now = self.order.clock.now();
        let error = match &self.due {
            Some(due) if due.is_over(now) => due.exceeded(),
            _ => return Ok(now),
        };
        // The body does not start in this attempt, so the callee is not to blame.
        for (layer, held) in self.order.layers.iter().zip(&mut self.held).rev() {
            match (layer, &held) {
                (Layer::Retry(_), Held::Attempts(_)) => break,
                (Layer::CircuitBreaker(breaker), Held::Admission(admission)) => {
                    breaker.cancel(*admission, now);
                    *held = Held::Nothing;
                }
                _ => {}
            }
        }
        self.forget_time_limits();
        Err(error.into())
    }

    /// Time limiters count no end but that of their own time.
    fn forget_time_limits(&mut self) {
        for held in &mut self.held {
            if let Held::Countdown(_) = held {
                *held = Held::Nothing;
            }
        }
    }

    /// Decides what calls further down are told of this one's time.
    pub(super) fn publish(&mut self) {
        self.published = None;
        if !self.order.deadline {
            return;
        }
        let ends = self.order.layers.iter().zip(&self.held).rev().filter_map(|pair| match pair {
            (Layer::TimeLimiter(limiter), Held::Countdown(countdown)) => {
                Some((countdown.limit()?.end()?, limiter.shared_name()))
            }
            (Layer::Retry(retry), Held::Attempts(progress)) => {
                Some((progress.end()?, retry.shared_name()))
            }
            _ => None,
        });
        self.published = ends.min_by_key(|(end, _)| *end).map(|(end, owner)| {
            CallContext::present().unwrap_or_default().until(end, &self.order.clock, owner)
        });
    }

    /// Runs what may call further down.
    pub(super) fn tell<R>(&self, function: impl FnOnce() -> R) -> R {
        match &self.published {
            None => function(),
            Some(context) => context.clone().enter(function),
        }
    }

    /// Whose time is over, now that the call has to wait.
    pub(super) fn cut(&mut self, cx: &mut Context<'_>) -> Option<Cut> {
        if let Some(cut) = self.cut_by_shared_time() {
            return Some(cut);
        }
        let levels = self.order.layers.iter().zip(&mut self.held).enumerate();
        // From inside, as nested futures would be polled.
        let expired = levels.rev().find_map(|(level, (layer, held))| {
            let (Layer::TimeLimiter(limiter), Held::Countdown(countdown)) = (layer, held) else {
                return None;
            };
            let over = countdown.as_mut().poll(&self.order.clock, cx).is_ready();
            let limit = countdown.limit().filter(|_| over)?;
            Some(Cut { level, error: limiter.expire(limit) })
        });
        if expired.is_some() {
            return expired;
        }
        if matches!(self.held.last(), Some(Held::BackOff(..) | Held::Turn(_))) {
            // These waits end before the deadline, or they do not begin.
            return None;
        }
        let due = self.due.as_ref()?;
        let until_due = self.until_due.get_or_insert_with(|| {
            let limit = TimeLimit::until(due.at(), self.order.clock.now());
            Box::pin(Countdown::new(Some(limit)))
        });
        let over = until_due.as_mut().poll(&self.order.clock, cx).is_ready();
        let error = due.exceeded();
        over.then(|| self.cut_by_deadline(error))
    }

    /// Whether a time is over that calls further up or down keep to as well.
    ///
    /// Of all that wait for it nobody knows who is woken first, so the time is read and not left to
    /// the timer, as in [`Protect`](super::super::Protect).
    fn cut_by_shared_time(&mut self) -> Option<Cut> {
        let by_deadline = self.cut_by_due();
        if by_deadline.is_some() || !self.order.deadline {
            return by_deadline;
        }
        let (level, limiter, limit) = self.first_limit()?;
        let over = limit.is_over(self.order.clock.now());
        over.then(|| Cut { level, error: limiter.expire(limit) })
    }

    /// Whether the deadline around the call is over, and before any time limit of the call's own.
    pub(super) fn cut_by_due(&mut self) -> Option<Cut> {
        let due = self.due.as_ref()?;
        if !due.is_over(self.order.clock.now())
            || self.first_limit().is_some_and(|(.., limit)| limit.is_over(due.at()))
        {
            return None;
        }
        let error = due.exceeded();
        Some(self.cut_by_deadline(error))
    }

    /// The time limit that ends first, the inner one of two that end together.
    fn first_limit(&self) -> Option<(usize, &TimeLimiter, TimeLimit)> {
        let levels = self.order.layers.iter().zip(&self.held).enumerate().rev();
        let limits = levels.filter_map(|(level, (layer, held))| match (layer, held) {
            (Layer::TimeLimiter(limiter), Held::Countdown(countdown)) => {
                Some((level, limiter, countdown.limit()?))
            }
            _ => None,
        });
        limits.min_by_key(|(.., limit)| limit.end())
    }

    /// The deadline around the call cuts what is innermost: all layers see the timeout.
    fn cut_by_deadline(&mut self, error: TimedOut) -> Cut {
        self.forget_time_limits();
        Cut { level: self.held.len() - usize::from(self.is_waiting()), error }
    }

    /// Carries an outcome outwards; `Continue` when a retry wants another attempt.
    pub(super) fn leave<T, E>(
        &mut self,
        mut outcome: Result<T, CallError<E>>,
        rules: &Rules<T, E>,
    ) -> ControlFlow<Result<T, CallError<E>>> {
        while let Some(level) = self.held.len().checked_sub(1) {
            match (&self.order.layers[level], &mut self.held[level]) {
                (Layer::Retry(retry), Held::Attempts(progress)) => {
                    match retry.settle(progress, outcome, rules) {
                        ControlFlow::Break(result) => outcome = result,
                        ControlFlow::Continue(wait) => {
                            let sleep = (!wait.is_zero()).then(|| retry.clock().sleep(wait));
                            self.held[level] = Held::BackOff(progress.clone(), sleep.map(Box::pin));
                            self.until_due = None;
                            return ControlFlow::Continue(());
                        }
                    }
                }
                (Layer::CircuitBreaker(breaker), Held::Admission(admission)) => {
                    let admission = *admission;
                    // The rules are the user's and may panic: the admission stays in its place
                    // meanwhile.
                    let report = rules.report(&outcome, || breaker.config());
                    self.held[level] = Held::Nothing;
                    breaker.end(admission, report, self.order.clock.now());
                }
                (Layer::TimeLimiter(limiter), Held::Countdown(countdown)) => {
                    // An error then tells most likely of that: calls further down know the time too.
                    let over = countdown.limit().filter(|limit| {
                        outcome.is_err()
                            && self.order.deadline
                            && limit.is_over(self.order.clock.now())
                    });
                    match over {
                        Some(limit) => {
                            let timed_out = limiter.expire(limit);
                            outcome = Err(CallError::Resilience(timed_out.into()));
                        }
                        None => limiter.end(outcome.is_ok()),
                    }
                }
                _ => {}
            }
            self.held.pop();
        }
        ControlFlow::Break(outcome)
    }

    /// Gives back what is held of this level and all within it.
    pub(super) fn abandon(&mut self, level: usize) {
        while self.held.len() > level {
            let Some(held) = self.held.pop() else { return };
            if let (Layer::CircuitBreaker(breaker), Held::Admission(admission)) =
                (&self.order.layers[self.held.len()], held)
            {
                breaker.abandon(admission, self.in_body, self.order.clock.now());
            }
        }
    }
}

impl Drop for Levels<'_> {
    fn drop(&mut self) {
        self.span.in_body(self.in_body);
        self.span.enter();
        self.abandon(0);
    }
}

/// Enters a layer, or begins to wait for that.
fn begin(layer: &Layer, due: Option<&Due>, now: u64) -> Result<Held, Error> {
    Ok(match layer {
        Layer::Retry(retry) => {
            let mut progress = None;
            retry.begin(&mut progress, due.map(Due::at));
            progress.map_or(Held::Nothing, Held::Attempts)
        }
        Layer::CircuitBreaker(breaker) if breaker.is_enabled() => {
            Held::Admission(breaker.begin(now)?)
        }
        Layer::RateLimiter { limiter, permits } => {
            match limiter.begin(*permits, longest_wait(due, now), now)? {
                Some(ticket) => Held::Turn(Box::pin(limiter.wait(ticket))),
                None => Held::Nothing,
            }
        }
        Layer::TimeLimiter(limiter) => match limiter.begin(Some(now)) {
            Some(limit) => Held::Countdown(Box::pin(Countdown::new(Some(limit)))),
            None => Held::Nothing,
        },
        Layer::Bulkhead(bulkhead) if bulkhead.is_enabled() => match bulkhead.begin(|| now)? {
            bulkhead::Entry::Admitted(slot) => Held::Slot(slot.into_permit()),
            bulkhead::Entry::Queued(queued) => Held::Queued(Box::pin(queued.wait())),
        },
        Layer::CircuitBreaker(_) | Layer::Bulkhead(_) => Held::Nothing,
    })
}
