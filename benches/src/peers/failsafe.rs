//! failsafe's breaker. Its rate is over a window of time; it has none over the last calls.

use failsafe::{
    Config, StateMachine,
    backoff::{self, Constant},
    failure_policy::{SuccessRateOverTimeWindow, success_rate_over_time_window},
};

use crate::settings;

/// A breaker over the last minute.
pub fn breaker() -> StateMachine<SuccessRateOverTimeWindow<Constant>, ()> {
    let success_rate = 1.0 - f64::from(settings::FAILURE_RATE) / 100.0;
    let open = backoff::constant(settings::OPEN);
    let policy =
        success_rate_over_time_window(success_rate, settings::WINDOW, settings::OPEN, open);
    Config::new().failure_policy(policy).build()
}
