//! failsafe's breaker. Its rate is over a window of time; it has none over the last calls.

use failsafe::{
    Config, StateMachine,
    backoff::{self, Constant},
    failure_policy::{
        ConsecutiveFailures, SuccessRateOverTimeWindow, consecutive_failures,
        success_rate_over_time_window,
    },
    futures::CircuitBreaker,
};

use crate::{body::fails, settings};

/// A breaker over the last minute.
pub fn breaker() -> StateMachine<SuccessRateOverTimeWindow<Constant>, ()> {
    let success_rate = 1.0 - f64::from(settings::FAILURE_RATE) / 100.0;
    let open = backoff::constant(settings::OPEN);
    let policy =
        success_rate_over_time_window(success_rate, settings::WINDOW, settings::OPEN, open);
    Config::new().failure_policy(policy).build()
}

/// A breaker that is open. A rate falls over time only, so that this one counts failures in a row.
///
/// # Panics
///
/// Never: one failure opens it.
pub fn open() -> StateMachine<ConsecutiveFailures<Constant>, ()> {
    let policy = consecutive_failures(1, backoff::constant(settings::OPEN));
    let breaker = Config::new().failure_policy(policy).build();
    drop(crate::now!(breaker.call(fails())));
    assert!(!breaker.is_call_permitted());
    breaker
}
