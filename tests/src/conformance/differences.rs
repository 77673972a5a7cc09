use serde_json::Value;

use super::Fields;

/// Behaviour of Resilience4j that is most likely accidental, as the recording names it, and why it
/// is not copied.
const QUIRKS: &[(&str, &str)] = &[
    ("reset_keeps_timer", "a reset ends the timer of the state it leaves"),
    ("zero_window_after_to_disabled", "OPEN after DISABLED has a window: late results do not fail"),
    (
        "zero_window_after_to_forced_open",
        "OPEN after FORCED_OPEN has a window: late results do not fail",
    ),
    ("transition_without_wait", "there is no way to ask for OPEN without saying for how long"),
    (
        "sync_max_retries_counted_twice",
        "a call whose attempts ran out is counted and published once, whoever waits for it",
    ),
    ("negative_interval", "an interval that ends the retry counts the call as failed with retry"),
    (
        "drain_uses_stale_permissions",
        "draining leaves nothing, and does not forgive what waiting calls have reserved",
    ),
    (
        "over_release",
        "a bulkhead that was released too often still admits no more than its maximum",
    ),
];

/// Why a scenario is not followed on purpose; `None` when it is to be followed to the letter.
pub fn difference(scenario: &Value) -> Option<&'static str> {
    let quirk = scenario.text("quirk");
    if !quirk.is_empty() {
        return QUIRKS.iter().find(|(name, _)| *name == quirk).map(|(_, why)| *why);
    }
    let limit = &scenario["config"]["timeoutDuration"];
    let of_time_limiter = scenario.text("module") == "time_limiter";
    (of_time_limiter && limit.as_i64().is_some_and(|millis| millis <= 0))
        .then_some("a time limit of 0 or below would refuse every call: it is an error")
}

/// What of a scenario that is followed is not compared, and why.
pub fn uncompared(scenario: &Value) -> Option<&'static str> {
    let function = &scenario["function"];
    let is_random = function.text("type") == "exponential_random";
    let in_cap = is_random
        && function.natural("max").is_some_and(|cap| {
            scenario.list("max").iter().any(|bound| bound.as_u64() == Some(cap))
        });
    in_cap.then_some("lower bounds at the cap: there the recording has lost its jitter")
}

/// Whether a scenario records an accident that nobody has decided about yet.
pub fn known(scenario: &Value) -> bool {
    let quirk = scenario.text("quirk");
    quirk.is_empty() || QUIRKS.iter().any(|(name, _)| *name == quirk)
}
