//! seatbelt's layers. Its breaker's window is one of time; it has no limiter and no bulkhead.

use layered::{Execute, Service, Stack};
use seatbelt::{
    RecoveryInfo, ResilienceContext,
    breaker::Breaker,
    retry::{Backoff, Retry},
    timeout::Timeout,
};
use tick::Clock;

use crate::{
    body::{Answer, Failed, body},
    settings,
};

type Context = ResilienceContext<u64, Answer>;

/// What the layers share. Needs a tokio runtime.
pub fn context() -> Context {
    ResilienceContext::new(Clock::new_tokio())
}

fn recovery(answer: &Answer) -> RecoveryInfo {
    if answer.is_ok() { RecoveryInfo::never() } else { RecoveryInfo::retry() }
}

macro_rules! retry {
    ($context:expr) => {
        Retry::layer("bench", $context)
            .clone_input()
            .recovery_with(|answer, _| recovery(answer))
            .max_retry_attempts(settings::ATTEMPTS - 1)
            .backoff(Backoff::Constant)
            .base_delay(settings::WAIT)
            .use_jitter(false)
    };
}

macro_rules! breaker {
    ($context:expr) => {
        Breaker::layer("bench", $context)
            .recovery_with(|answer, _| recovery(answer))
            .rejected_input_error(|_, _| Failed::Body)
            .failure_threshold(f32::from(settings::FAILURE_RATE) / 100.0)
            .min_throughput(settings::WINDOW)
            .break_duration(settings::OPEN)
    };
}

macro_rules! timeout {
    ($context:expr) => {
        Timeout::layer("bench", $context).timeout_error(|_| Failed::Body).timeout(settings::TIMEOUT)
    };
}

/// The body behind a retry.
pub fn retry(context: &Context) -> impl Service<u64, Out = Answer> + use<> {
    (retry!(context), Execute::new(body)).into_service()
}

/// The body behind a breaker.
pub fn breaker(context: &Context) -> impl Service<u64, Out = Answer> + use<> {
    (breaker!(context), Execute::new(body)).into_service()
}

/// The body behind a timeout.
pub fn timeout(context: &Context) -> impl Service<u64, Out = Answer> + use<> {
    (timeout!(context), Execute::new(body)).into_service()
}

/// The body behind all three.
pub fn stack(context: &Context) -> impl Service<u64, Out = Answer> + use<> {
    (retry!(context), breaker!(context), timeout!(context), Execute::new(body)).into_service()
}
