use std::fmt;

use crate::{Key, same_name, schema};

/// A pattern that can be configured: one section of a configuration file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Pattern {
    /// `circuitbreaker`
    CircuitBreaker,
    /// `retry`
    Retry,
    /// `ratelimiter`
    RateLimiter,
    /// `timelimiter`
    TimeLimiter,
    /// `bulkhead`
    Bulkhead,
    /// `thread-pool-bulkhead`
    ThreadPoolBulkhead,
}

impl Pattern {
    /// Every pattern, outermost first in the order in which they are composed.
    pub const ALL: &[Pattern] = &[
        Pattern::Retry,
        Pattern::CircuitBreaker,
        Pattern::RateLimiter,
        Pattern::TimeLimiter,
        Pattern::Bulkhead,
        Pattern::ThreadPoolBulkhead,
    ];

    /// The name of the pattern's section in a configuration file.
    pub const fn section(self) -> &'static str {
        match self {
            Pattern::CircuitBreaker => "circuitbreaker",
            Pattern::Retry => "retry",
            Pattern::RateLimiter => "ratelimiter",
            Pattern::TimeLimiter => "timelimiter",
            Pattern::Bulkhead => "bulkhead",
            Pattern::ThreadPoolBulkhead => "thread-pool-bulkhead",
        }
    }

    /// The name of the pattern's attribute, also the one used in prose.
    pub const fn attribute(self) -> &'static str {
        match self {
            Pattern::CircuitBreaker => "circuit_breaker",
            Pattern::Retry => "retry",
            Pattern::RateLimiter => "rate_limiter",
            Pattern::TimeLimiter => "time_limiter",
            Pattern::Bulkhead | Pattern::ThreadPoolBulkhead => "bulkhead",
        }
    }

    /// The pattern whose section is written `text`, in any case and with or without separators.
    pub fn from_section(text: &str) -> Option<Pattern> {
        Pattern::ALL.iter().copied().find(|pattern| same_name(pattern.section(), text))
    }

    /// The keys of the pattern, in the order of the reference documentation.
    pub const fn keys(self) -> &'static [Key] {
        match self {
            Pattern::CircuitBreaker => schema::CIRCUIT_BREAKER,
            Pattern::Retry => schema::RETRY,
            Pattern::RateLimiter => schema::RATE_LIMITER,
            Pattern::TimeLimiter => schema::TIME_LIMITER,
            Pattern::Bulkhead => schema::BULKHEAD,
            Pattern::ThreadPoolBulkhead => schema::THREAD_POOL_BULKHEAD,
        }
    }

    /// The position and definition of a key written in `snake_case`, camelCase or kebab-case.
    pub fn key(self, text: &str) -> Option<(usize, &'static Key)> {
        Key::find(self.keys(), text)
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.section())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canonical;

    #[test]
    fn sections_are_found_in_every_spelling() {
        for text in ["thread-pool-bulkhead", "threadPoolBulkhead", "THREAD_POOL_BULKHEAD"] {
            assert_eq!(Pattern::from_section(text), Some(Pattern::ThreadPoolBulkhead));
        }
        assert_eq!(Pattern::from_section("circuit-breaker"), Some(Pattern::CircuitBreaker));
        assert_eq!(Pattern::from_section("circuitbraker"), None);
    }

    #[test]
    fn no_two_keys_of_a_pattern_share_a_spelling() {
        for pattern in Pattern::ALL {
            let mut seen = std::collections::HashSet::new();
            for key in pattern.keys() {
                for spelling in std::iter::once(&key.name).chain(key.aliases) {
                    assert!(seen.insert(canonical(spelling)), "{pattern}: {spelling}");
                }
            }
        }
    }

    #[test]
    fn every_default_lies_in_its_own_range() {
        for keys in Pattern::ALL.iter().map(|pattern| pattern.keys()).chain([schema::REDIS]) {
            for key in keys {
                if let Some(default) = key.default_value() {
                    assert_eq!(key.ty.check(default.clone()), Ok(default), "{}", key.name);
                }
            }
        }
    }
}
