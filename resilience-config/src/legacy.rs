//! Keys of Resilience4j's older versions, and its sections that only make sense on the JVM.

use resilience_settings::{Pattern, same_name};

/// What became of a key of an older version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Successor {
    /// The same meaning under other names: each of these takes the value.
    Same(&'static [&'static str]),
    /// Another key, with another meaning or unit: the user has to look.
    Other(&'static str),
}

use Successor::{Other, Same};

const CIRCUIT_BREAKER: &[(&str, Successor)] = &[
    // The ring was window and minimum in one: no rate before it was full.
    ("ring_buffer_size_in_closed_state", Same(&["sliding_window_size", "minimum_number_of_calls"])),
    (
        "ring_buffer_size_in_half_open_state",
        Same(&["permitted_number_of_calls_in_half_open_state"]),
    ),
    ("wait_interval", Same(&["wait_duration_in_open_state"])),
    ("wait_duration_in_open_state_millis", Same(&["wait_duration_in_open_state"])),
];

const RETRY: &[(&str, Successor)] = &[
    (
        "max_retry_attempts",
        Other("write `max_attempts`, which counts the first call: 3 are one call and two retries"),
    ),
    ("wait_duration_millis", Same(&["wait_duration"])),
];

const RATE_LIMITER: &[(&str, Successor)] = &[
    ("limit_refresh_period_in_millis", Same(&["limit_refresh_period"])),
    ("timeout_in_millis", Same(&["timeout_duration"])),
];

const TIME_LIMITER: &[(&str, Successor)] = &[("timeout_in_millis", Same(&["timeout_duration"]))];

const BULKHEAD: &[(&str, Successor)] = &[
    ("max_concurrent_call", Same(&["max_concurrent_calls"])),
    ("max_wait_time", Same(&["max_wait_duration"])),
];

const THREAD_POOL_BULKHEAD: &[(&str, Successor)] =
    &[("keep_alive_time", Same(&["keep_alive_duration"]))];

/// What became of `key`, if an older version had it.
pub(crate) fn successor(pattern: Pattern, key: &str) -> Option<Successor> {
    let table = match pattern {
        Pattern::CircuitBreaker => CIRCUIT_BREAKER,
        Pattern::Retry => RETRY,
        Pattern::RateLimiter => RATE_LIMITER,
        Pattern::TimeLimiter => TIME_LIMITER,
        Pattern::Bulkhead => BULKHEAD,
        Pattern::ThreadPoolBulkhead => THREAD_POOL_BULKHEAD,
    };
    table.iter().find(|(name, _)| same_name(name, key)).map(|(_, successor)| *successor)
}

/// Sections beside the patterns, or inside one of them, that do nothing here.
const JVM_SECTIONS: &[(&str, &str)] = &[
    ("scheduled", "the runtime has its own timers"),
    ("thread", "there are no virtual threads to choose"),
    ("micrometer", "calls are timed without a section of their own"),
    ("tags", "tags are not exported yet"),
    ("metrics", "metrics need no switch"),
];

/// Why a section of this name does nothing here, if it is one of those.
pub(crate) fn jvm_section(name: &str) -> Option<(&'static str, &'static str)> {
    JVM_SECTIONS.iter().copied().find(|(section, _)| same_name(section, name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_successor_is_a_key_of_its_pattern() {
        for &pattern in Pattern::ALL {
            for table in
                [CIRCUIT_BREAKER, RETRY, RATE_LIMITER, TIME_LIMITER, BULKHEAD, THREAD_POOL_BULKHEAD]
            {
                for (old, _) in table {
                    assert!(pattern.key(old).is_none(), "{old} is a key of today");
                    if let Some(Same(names)) = successor(pattern, old) {
                        for name in names {
                            assert!(pattern.key(name).is_some(), "{pattern}: {name}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn old_keys_are_found_in_every_spelling() {
        for text in ["ringBufferSizeInHalfOpenState", "ring-buffer-size-in-half-open-state"] {
            assert_eq!(
                successor(Pattern::CircuitBreaker, text),
                Some(Same(&["permitted_number_of_calls_in_half_open_state"]))
            );
        }
        assert_eq!(successor(Pattern::Retry, "ringBufferSizeInHalfOpenState"), None);
    }
}
