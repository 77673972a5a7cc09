use std::{fmt, ops::ControlFlow, time::Duration};

use super::{
    Handle, Layers, Protect,
    admit::Admit,
    body::{Blocking, Detached, Plain},
    gate::Gate,
};
use crate::{
    __private::Movable,
    Rules,
    circuit_breaker::Admission,
    context::{self, Due, longest_wait},
    error::{CallError, Error},
    rate_limiter,
    retry::Progress,
    trace::{CallSpan, Named},
};

/// One call on its way through the layers.
///
/// Each attempt is [`admit`](Pass::admit), then [`protect`](Pass::protect), then
/// [`succeed`](Pass::succeed) or, where that does not say yes, [`settle`](Pass::settle); the caller loops
/// for as long as `settle` says so. Dropping the pass at
/// any point gives back what it holds.
pub struct Pass<'l> {
    pub(super) layers: Handle<'l>,
    pub(super) progress: Option<Progress>,
    admission: Option<Admission>,
    /// Set while the protected body is being polled: if the pass is dropped then, the body panicked.
    /// `std::thread::panicking` would also be true for a healthy call beside a panicking one.
    pub(super) polling: bool,
    /// The deadline around the call, if there is one.
    pub(super) due: Option<Due>,
    /// When the present attempt was let in; unset where no layer has asked for the time yet, so that
    /// a call whose layers are disabled reads no clock.
    pub(super) admitted_at: Option<u64>,
    pub(super) gate: Gate,
    pub(super) span: CallSpan,
}

impl<'l> Pass<'l> {
    pub(crate) fn new(layers: Handle<'l>) -> Self {
        let due = context::due(&layers.clock);
        let mut progress = None;
        match (&layers.retry, &due) {
            // Nothing will be called, so there is nothing to count.
            (None, _) => {}
            (_, Some(due)) if due.came_too_late() => {}
            (Some(retry), due) => retry.begin(&mut progress, due.as_ref().map(Due::at)),
        }
        let span = CallSpan::start(|| layers.names());
        Self::begun(layers, progress, due, span)
    }

    /// The same on layers that are there as long as the call is.
    pub(crate) fn lent(layers: &'l Layers) -> Self {
        // What a pass is put together from is written where the pass will be: to move one costs more
        // than all else here. Hence the usual case by itself.
        let attempts = match &layers.retry {
            _ if context::is_used() || CallSpan::is_wanted() => None,
            Some(retry) => retry.attempts_alone(),
            None => Some(0),
        };
        let Some(attempts) = attempts else { return Self::new(Handle::Lent(layers)) };
        let progress = (attempts > 0).then(|| Progress::new(attempts, None));
        Self::begun(Handle::Lent(layers), progress, None, CallSpan::none())
    }

    #[inline]
    fn begun(
        layers: Handle<'l>,
        progress: Option<Progress>,
        due: Option<Due>,
        span: CallSpan,
    ) -> Self {
        let (gate, polling) = (Gate::default(), false);
        let (admission, admitted_at) = (None, None);
        Self { layers, progress, admission, polling, due, admitted_at, gate, span }
    }

    /// Whether no attempt can follow the one that comes now.
    pub fn is_last_attempt(&self) -> bool {
        self.progress.as_ref().is_none_or(Progress::is_last_attempt)
    }

    /// Asks the outer layers: circuit breaker, then rate limiter. Nobody is asked once the deadline
    /// around the call is over.
    ///
    /// # Errors
    ///
    /// The refusal, to be given to [`settle`](Pass::settle) as the outcome.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future returns a reservation of the rate limiter.
    #[inline]
    pub fn admit(&mut self) -> Admit<'_, 'l> {
        Admit::new(self)
    }

    /// Asks the outer layers; the ticket is that of a wait for the rate limiter.
    #[inline]
    pub(super) fn ask(&mut self) -> Result<Option<rate_limiter::Ticket>, Error> {
        if self.span.is_on() { self.inside(Self::ask_layers) } else { self.ask_layers() }
    }

    fn ask_layers(&mut self) -> Result<Option<rate_limiter::Ticket>, Error> {
        let layers = &*self.layers;
        self.admitted_at = None;
        let (breaker, limiter) = (layers.acting_breaker(), layers.acting_limiter());
        if breaker.is_none() && limiter.is_none() && self.due.is_none() {
            self.open_gate();
            return Ok(None);
        }
        let now = layers.clock.now();
        in_time(self.due.as_ref(), now)?;
        if let Some(breaker) = breaker {
            self.admission = match breaker.admit_freely(now) {
                admission @ Some(_) => admission,
                None => Some(breaker.begin_elsewise(now)?),
            };
        }
        self.admitted_at = Some(now);
        if let Some(limiter) = limiter {
            let longest = longest_wait(self.due.as_ref(), now);
            if let Some(ticket) = limiter.begin(layers.permits, longest, now)? {
                return Ok(Some(ticket));
            }
        }
        self.open_gate();
        Ok(None)
    }

    /// Goes on after a wait for the rate limiter.
    pub(super) fn begin_turn(&mut self) -> Result<(), Error> {
        self.inside(Self::go_on)
    }

    fn go_on(&mut self) -> Result<(), Error> {
        let now = self.layers.clock.now();
        self.admitted_at = Some(now);
        in_time(self.due.as_ref(), now).inspect_err(|_| {
            // Woken too late: the body does not start, so the callee is not to blame.
            if let (Some(breaker), Some(admission)) =
                (&self.layers.circuit_breaker, self.admission.take())
            {
                breaker.cancel(admission, now);
            }
        })?;
        self.open_gate();
        Ok(())
    }

    /// Runs the body within the inner layers: time limit around bulkhead around body.
    pub fn protect<F, T, E>(&mut self, body: F) -> Protect<'_, 'l, Plain<F>>
    where
        F: Future<Output = Result<T, E>>,
    {
        Protect::new(self, Plain::new(body))
    }

    /// Like [`protect`](Pass::protect), for a body that runs on after a timeout.
    pub fn protect_detached<F, T, E>(&mut self, body: F) -> Protect<'_, 'l, Detached<F, T, E>>
    where
        F: Future<Output = Result<T, E>> + Send + 'static,
        T: Movable,
        E: Movable,
    {
        Protect::new(self, Detached::new(body))
    }

    /// Like [`protect`](Pass::protect), for a blocking body that runs on the thread pool.
    pub fn protect_blocking<F, T, E>(&mut self, body: F) -> Protect<'_, 'l, Blocking<F, T, E>>
    where
        F: FnOnce() -> Result<T, E> + Send + 'static,
        T: Movable,
        E: Movable,
    {
        Protect::new(self, Blocking::new(body))
    }

    /// Takes note of a success, if that needs no rule: it stands then, and is not for
    /// [`settle`](Self::settle). The usual case by itself, so that the value is not moved from one kind of
    /// result to the next.
    #[inline]
    pub fn succeed<T, E>(&mut self, rules: &Rules<T, E>) -> bool {
        let stands = rules.accept_all_results() && !self.span.is_on();
        if stands {
            self.count_success();
        }
        stands
    }

    /// Reports the outcome of an attempt: to the circuit breaker, then to retry, which decides
    /// whether the outcome stands or another attempt comes after a wait.
    #[inline]
    pub fn settle<T, E>(
        &mut self,
        outcome: Result<T, CallError<E>>,
        rules: &Rules<T, E>,
    ) -> ControlFlow<Result<T, CallError<E>>, Duration> {
        if self.span.is_on() {
            return self.settle_inside(outcome, rules);
        }
        self.settle_by_rules(outcome, rules)
    }

    /// [`settle`](Self::settle) inside the span, which ends with the last attempt.
    #[cold]
    #[inline(never)]
    fn settle_inside<T, E>(
        &mut self,
        outcome: Result<T, CallError<E>>,
        rules: &Rules<T, E>,
    ) -> ControlFlow<Result<T, CallError<E>>, Duration> {
        let step = self.inside(|pass| pass.settle_by_rules(outcome, rules));
        match &step {
            ControlFlow::Break(result) => self.span.end(result),
            ControlFlow::Continue(_) => self.span.again(),
        }
        step
    }

    /// [`settle`](Self::settle) for a call that no other attempt may follow unless it `can_repeat`.
    #[inline]
    pub(super) fn settle_while<T, E>(
        &mut self,
        can_repeat: bool,
        outcome: Result<T, CallError<E>>,
        rules: &Rules<T, E>,
    ) -> ControlFlow<Result<T, CallError<E>>, Duration> {
        if can_repeat {
            self.settle(outcome, rules)
        } else {
            self.settle(outcome, &(*rules).once())
        }
    }

    fn count_success(&mut self) {
        let layers = &*self.layers;
        if let (Some(breaker), Some(admission)) = (&layers.circuit_breaker, self.admission.take()) {
            breaker.succeed(&admission, || layers.clock.now());
        }
        if let (Some(retry), Some(progress)) = (&layers.retry, &self.progress) {
            retry.after_success(progress);
        }
    }

    fn settle_by_rules<T, E>(
        &mut self,
        outcome: Result<T, CallError<E>>,
        rules: &Rules<T, E>,
    ) -> ControlFlow<Result<T, CallError<E>>, Duration> {
        // That of an attempt whose time was over, and whose body is gone by now.
        self.free_slot();
        if let Some(breaker) = self.layers.circuit_breaker.as_ref()
            && self.admission.is_some()
        {
            // The rules are the user's and may panic: the admission stays in its place meanwhile.
            let report = rules.report(&outcome, || breaker.config());
            if let Some(admission) = self.admission.take() {
                breaker.end(admission, report, self.layers.clock.now());
            }
        }
        match (&self.layers.retry, &mut self.progress) {
            (Some(retry), Some(progress)) => retry.settle(progress, outcome, rules),
            _ => ControlFlow::Break(outcome),
        }
    }

    /// Lets go of the layers, where they were the call's alone.
    pub fn finish(&mut self) {
        static NONE: Layers = Layers::none();
        if !matches!(self.layers, Handle::Lent(_)) {
            self.progress = None;
            self.layers = Handle::Lent(&NONE);
        }
    }

    /// Waits before the next attempt; no layer's permit is held meanwhile.
    pub async fn back_off(&self, wait: Duration) {
        if let Some(retry) = &self.layers.retry {
            retry.back_off(wait).await;
        }
    }
}

fn in_time(due: Option<&Due>, now: u64) -> Result<(), Error> {
    match due {
        Some(due) if due.is_over(now) => Err(due.exceeded().into()),
        _ => Ok(()),
    }
}

impl Drop for Pass<'_> {
    #[inline]
    fn drop(&mut self) {
        self.free_slot();
        if self.span.is_on() {
            self.span.in_body(self.polling);
        }
        if self.admission.is_some() {
            self.abandon();
        }
    }
}

impl Pass<'_> {
    /// Runs a step of the call inside its span.
    #[cold]
    pub(super) fn inside<R>(&mut self, step: impl FnOnce(&mut Self) -> R) -> R {
        self.span.enter();
        let result = step(self);
        self.span.leave();
        result
    }

    /// Tells the breaker of a call that was dropped, or whose body panicked.
    #[cold]
    fn abandon(&mut self) {
        self.inside(|pass| {
            if let (Some(breaker), Some(admission)) =
                (&pass.layers.circuit_breaker, pass.admission.take())
            {
                breaker.abandon(admission, pass.polling, pass.layers.clock.now());
            }
        });
    }
}

impl fmt::Debug for Pass<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pass").field("progress", &self.progress).finish_non_exhaustive()
    }
}
