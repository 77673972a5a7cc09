use super::{Pattern, Problem, Settings};
use crate::{
    BulkheadConfig, CircuitBreakerConfig, RateLimiterConfig, RetryConfig, ThreadPoolBulkheadConfig,
    TimeLimiterConfig,
};

/// What is wrong between the settings of one instance: the rules of its typed configuration.
pub(crate) fn contradictions(settings: &Settings) -> Vec<Problem> {
    let problems = match settings.pattern() {
        Pattern::CircuitBreaker => CircuitBreakerConfig::from_settings(settings).err(),
        Pattern::Retry => RetryConfig::from_settings(settings).err(),
        Pattern::RateLimiter => RateLimiterConfig::from_settings(settings).err(),
        Pattern::TimeLimiter => TimeLimiterConfig::from_settings(settings).err(),
        Pattern::Bulkhead => BulkheadConfig::from_settings(settings).err(),
        Pattern::ThreadPoolBulkhead => ThreadPoolBulkheadConfig::from_settings(settings).err(),
    };
    problems.unwrap_or_default()
}
