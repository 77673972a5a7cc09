//! Instances of `resilience` at the common settings.

use std::time::Duration;

use resilience::{
    Bulkhead, BulkheadConfig, CircuitBreaker, CircuitBreakerConfig, RateLimiter, RateLimiterConfig,
    Retry, RetryConfig, Stack, TimeLimiter, TimeLimiterConfig, circuit_breaker::SlidingWindowType,
    rate_limiter::Refill,
};

use crate::settings;

/// How the rows name the library.
pub const NAME: &str = "resilience";

/// A retry of three attempts.
///
/// # Panics
///
/// Never: the settings are in range.
pub fn retry() -> Retry {
    let config = RetryConfig::builder()
        .max_attempts(settings::ATTEMPTS)
        .wait_duration(settings::WAIT)
        .build();
    Retry::new("bench", config.expect("in range"))
}

/// A breaker over the last calls.
pub fn breaker() -> CircuitBreaker {
    breaker_over(SlidingWindowType::CountBased, settings::WINDOW)
}

/// The same without the rule about slow calls.
///
/// # Panics
///
/// Never: the settings are in range.
pub fn untimed_breaker() -> CircuitBreaker {
    let config = CircuitBreakerConfig::builder()
        .sliding_window_size(settings::WINDOW)
        .failure_rate_threshold(f64::from(settings::FAILURE_RATE))
        .slow_call_rate_enabled(false)
        .build();
    CircuitBreaker::new("bench", config.expect("in range"))
}

/// A breaker over a window of this kind and size.
///
/// # Panics
///
/// When the size is out of range.
pub fn breaker_over(window: SlidingWindowType, size: u32) -> CircuitBreaker {
    let config = CircuitBreakerConfig::builder()
        .sliding_window_type(window)
        .sliding_window_size(size)
        .minimum_number_of_calls(settings::WINDOW)
        .failure_rate_threshold(f64::from(settings::FAILURE_RATE))
        .slow_call_duration_threshold(settings::SLOW)
        .wait_duration_in_open_state(settings::OPEN)
        .permitted_number_of_calls_in_half_open_state(settings::PROBES)
        .build();
    CircuitBreaker::new("bench", config.expect("in range"))
}

/// A limiter that lets everything through.
pub fn limiter(refill: Refill) -> RateLimiter {
    limiter_of(settings::LIMIT, Duration::from_secs(1), refill)
}

/// A limiter of this many calls in a period, which refuses at once what is over the limit.
///
/// # Panics
///
/// When a value is out of range.
pub fn limiter_of(limit: u32, period: Duration, refill: Refill) -> RateLimiter {
    let config = RateLimiterConfig::builder()
        .limit_for_period(limit)
        .limit_refresh_period(period)
        .timeout_duration(Duration::ZERO)
        .refill(refill)
        .build();
    RateLimiter::new("bench", config.expect("in range"))
}

/// A time limiter.
///
/// # Panics
///
/// Never: the settings are in range.
pub fn time_limiter() -> TimeLimiter {
    let config = TimeLimiterConfig::builder().timeout_duration(settings::TIMEOUT).build();
    TimeLimiter::new("bench", config.expect("in range"))
}

/// A bulkhead of this many calls at once, which refuses at once what is over that.
///
/// # Panics
///
/// Never: all numbers are in range.
pub fn bulkhead(concurrent: u32) -> Bulkhead {
    let config = BulkheadConfig::builder().max_concurrent_calls(concurrent).build();
    Bulkhead::new("bench", config.expect("in range"))
}

/// One instance of each pattern.
#[derive(Debug, Clone)]
pub struct Five {
    /// The outermost layer.
    pub retry: Retry,
    /// The second.
    pub breaker: CircuitBreaker,
    /// The third.
    pub limiter: RateLimiter,
    /// The fourth.
    pub time_limiter: TimeLimiter,
    /// The innermost.
    pub bulkhead: Bulkhead,
}

impl Five {
    /// Instances of their own, at the common settings.
    pub fn new() -> Self {
        Self {
            retry: retry(),
            breaker: breaker(),
            limiter: limiter(Refill::Interval),
            time_limiter: time_limiter(),
            bulkhead: bulkhead(settings::CONCURRENT),
        }
    }

    /// All five as a stack, in the order that the attributes have.
    pub fn stack(&self) -> Stack {
        let five = self.clone();
        Stack::builder()
            .retry(five.retry)
            .circuit_breaker(five.breaker)
            .rate_limiter(five.limiter)
            .time_limiter(five.time_limiter)
            .bulkhead(five.bulkhead)
            .build()
    }
}

impl Default for Five {
    fn default() -> Self {
        Self::new()
    }
}
