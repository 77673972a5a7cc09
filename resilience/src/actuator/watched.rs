//! Patterns whose instances can be listened to.

use crate::{
    Bulkhead, CircuitBreaker, RateLimiter, Retry, ThreadPoolBulkhead, TimeLimiter,
    bulkhead::BulkheadEventKind,
    circuit_breaker::CircuitBreakerEventKind,
    events::{EventKind, Events, InstanceEvent},
    rate_limiter::RateLimiterEventKind,
    registry::Kept,
    retry::RetryEventKind,
    time_limiter::TimeLimiterEventKind,
};

/// What the name of a thread pool is shown after, among those of the bulkheads.
pub(super) const POOL: &str = "ThreadPoolBulkhead-";

/// A pattern whose instances have events.
pub(super) trait Watched: Kept {
    type Kind: EventKind;

    fn all_events(&self) -> Events<InstanceEvent<Self::Kind>>;

    /// The name under which the events of an instance are found.
    fn shown(name: &str) -> String {
        name.to_owned()
    }
}

macro_rules! watched {
    ($($instance:ident: $kind:ident $(as $prefix:ident)?;)*) => {
        $(impl Watched for $instance {
            type Kind = $kind;

            fn all_events(&self) -> Events<InstanceEvent<$kind>> {
                self.events()
            }

            $(fn shown(name: &str) -> String {
                [$prefix, name].concat()
            })?
        })*
    };
}

watched! {
    CircuitBreaker: CircuitBreakerEventKind;
    Retry: RetryEventKind;
    RateLimiter: RateLimiterEventKind;
    TimeLimiter: TimeLimiterEventKind;
    Bulkhead: BulkheadEventKind;
    ThreadPoolBulkhead: BulkheadEventKind as POOL;
}
