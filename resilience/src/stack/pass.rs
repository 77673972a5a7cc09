use std::{fmt, ops::ControlFlow, time::Duration};

use super::{
    Handle, Layers, Protect,
    body::{Blocking, Detached, Plain},
};
use crate::{
    Retry, Rules, TimeLimiter,
    circuit_breaker::Admission,
    context::{self, Context, Due, longest_wait},
    error::{CallError, Error},
    retry::Progress,
};

/// One call on its way through the layers.
///
/// Each attempt is [`admit`](Pass::admit), then [`protect`](Pass::protect), then
/// [`settle`](Pass::settle); the caller loops for as long as `settle` says so. Dropping the pass at
/// any point gives back what it holds.
pub struct Pass {
    layers: Handle,
    progress: Option<Progress>,
    admission: Option<Admission>,
    /// Set while the protected body is being polled: if the pass is dropped then, the body panicked.
    /// `std::thread::panicking` would also be true for a healthy call beside a panicking one.
    polling: bool,
    /// The deadline around the call, if there is one.
    due: Option<Due>,
    /// When the present attempt was let in; unset where no layer has asked for the time yet, so that
    /// a call whose layers are disabled reads no clock.
    admitted_at: Option<u64>,
}

impl Pass {
    pub(crate) fn new(layers: Handle) -> Self {
        let due = context::due(&layers.clock);
        let progress = match &due {
            // Nothing will be called, so there is nothing to count.
            Some(due) if due.came_too_late() => None,
            due => {
                let deadline = due.as_ref().map(Due::at);
                layers.retry.as_ref().and_then(|retry| retry.begin(deadline))
            }
        };
        Self { layers, progress, admission: None, polling: false, due, admitted_at: None }
    }

    pub(super) fn layers(&self) -> &Layers {
        &self.layers
    }

    pub(super) fn due(&self) -> Option<&Due> {
        self.due.as_ref()
    }

    /// What calls further down are told while the body runs whose time limit ends at `limit`; `None`
    /// where they are told nothing by this one.
    pub(super) fn published(&self, limit: Option<u64>) -> Option<Context> {
        let Layers { deadline, retry, time_limiter, clock, .. } = self.layers();
        if !deadline {
            return None;
        }
        let limit = limit.zip(time_limiter.as_ref().map(TimeLimiter::shared_name));
        let total = self.progress.as_ref().and_then(Progress::end);
        let total = total.zip(retry.as_ref().map(Retry::shared_name));
        let (end, owner) = limit.into_iter().chain(total).min_by_key(|(end, _)| *end)?;
        Some(Context::present().unwrap_or_default().until(end, clock, owner))
    }

    /// When the outer layers let the present attempt in: the inner ones begin at that very time.
    pub(super) fn admitted_at(&self) -> u64 {
        self.admitted_at.unwrap_or_else(|| self.layers.clock.now())
    }

    pub(super) fn set_polling(&mut self, polling: bool) {
        self.polling = polling;
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
    pub async fn admit(&mut self) -> Result<(), Error> {
        self.admitted_at = None;
        let (breaker, limiter) = (self.layers.acting_breaker(), self.layers.acting_limiter());
        if breaker.is_none() && limiter.is_none() && self.due.is_none() {
            return Ok(());
        }
        let now = self.layers.clock.now();
        self.in_time(now)?;
        let admission = breaker.map(|breaker| breaker.begin(now)).transpose()?;
        self.admission = admission;
        self.admitted_at = Some(now);
        if let Some(limiter) = limiter
            && let Some(turn) =
                limiter.begin(self.layers.permits, longest_wait(self.due(), now), now)?
        {
            turn.await?;
            let now = self.layers.clock.now();
            self.admitted_at = Some(now);
            if let Err(over) = self.in_time(now) {
                // Woken too late: the body does not start, so the callee is not to blame.
                if let (Some(breaker), Some(admission)) =
                    (&self.layers.circuit_breaker, self.admission.take())
                {
                    breaker.cancel(admission, now);
                }
                return Err(over);
            }
        }
        Ok(())
    }

    fn in_time(&self, now: u64) -> Result<(), Error> {
        match &self.due {
            Some(due) if due.is_over(now) => Err(due.exceeded().into()),
            _ => Ok(()),
        }
    }

    /// Runs the body within the inner layers: time limit around bulkhead around body.
    pub fn protect<F, T, E>(&mut self, body: F) -> Protect<'_, Plain<F>>
    where
        F: Future<Output = Result<T, E>>,
    {
        Protect::new(self, Plain::new(body))
    }

    /// Like [`protect`](Pass::protect), for a body that runs on after a timeout.
    pub fn protect_detached<F, T, E>(&mut self, body: F) -> Protect<'_, Detached<F, T, E>>
    where
        F: Future<Output = Result<T, E>> + Send + 'static,
        T: Send + 'static,
        E: Send + 'static,
    {
        Protect::new(self, Detached::new(body))
    }

    /// Like [`protect`](Pass::protect), for a blocking body that runs on the thread pool.
    pub fn protect_blocking<F, T, E>(&mut self, body: F) -> Protect<'_, Blocking<F, T, E>>
    where
        F: FnOnce() -> Result<T, E> + Send + 'static,
        T: Send + 'static,
        E: Send + 'static,
    {
        Protect::new(self, Blocking::new(body))
    }

    /// Reports the outcome of an attempt: to the circuit breaker, then to retry, which decides
    /// whether the outcome stands or another attempt comes after a wait.
    pub fn settle<T, E>(
        &mut self,
        outcome: Result<T, CallError<E>>,
        rules: &Rules<T, E>,
    ) -> ControlFlow<Result<T, CallError<E>>, Duration> {
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

    /// Waits before the next attempt; no layer's permit is held meanwhile.
    pub async fn back_off(&self, wait: Duration) {
        if let Some(retry) = &self.layers.retry {
            retry.back_off(wait).await;
        }
    }
}

impl Drop for Pass {
    fn drop(&mut self) {
        if let (Some(breaker), Some(admission)) =
            (&self.layers.circuit_breaker, self.admission.take())
        {
            breaker.abandon(admission, self.polling, self.layers.clock.now());
        }
    }
}

impl fmt::Debug for Pass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pass").field("progress", &self.progress).finish_non_exhaustive()
    }
}
