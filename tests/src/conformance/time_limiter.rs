//! `config_validation` of the time limiter, the only kind recorded of it.

use std::time::Duration;

use resilience::TimeLimiterConfig;
use serde_json::Value;

use super::{Fields, Mismatch};

/// Replays one scenario.
///
/// # Errors
///
/// When the recording accepted what is refused here, or the other way round.
pub(super) fn replay(scenario: &Value) -> Result<(), Mismatch> {
    // What is below zero cannot be written in the types of this interface.
    let valid = scenario["config"].natural("timeoutDuration").is_some_and(|millis| {
        let limit = Duration::from_millis(millis);
        TimeLimiterConfig::builder().timeout_duration(limit).build().is_ok()
    });
    Mismatch::check(scenario, "valid", &scenario["valid"].as_bool(), &Some(valid))
}
