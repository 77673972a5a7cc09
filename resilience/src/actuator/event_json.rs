//! Events in Resilience4j's shapes.

use serde::Serialize;

use super::{
    filter::Filter,
    listening::Listening,
    time::rfc3339,
    topic::{Topic, kept, listen, names},
};
use crate::{
    Bulkhead, CircuitBreaker, RateLimiter, Resilience, Retry, ThreadPoolBulkhead, TimeLimiter,
    bulkhead::BulkheadEventKind,
    events::{InstanceEvent, RecentEvent},
};

/// Writes an event's shape and that of a list of them: what is beside the name, the type and the time.
macro_rules! topic {
    (
        $instance:ident, $path:literal, $json:ident { $name:ident $(, $field:ident: $type:ty = $value:expr)* },
        $list:ident { $events:ident }, [$($event_type:literal),*], |$event:ident|
        $(; $($more:item)*)?
    ) => {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        pub(super) struct $json {
            $name: String,
            r#type: &'static str,
            creation_time: String,
            $($field: $type,)*
        }

        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        pub(super) struct $list {
            $events: Vec<$json>,
        }

        impl From<Vec<$json>> for $list {
            fn from($events: Vec<$json>) -> Self {
                Self { $events }
            }
        }

        impl Topic for $instance {
            const EVENTS: &'static str = $path;
            const TYPES: &'static [&'static str] = &[$($event_type),*];
            type Json = $json;
            type List = $list;

            fn json($name: String, $event: RecentEvent) -> $json {
                $json {
                    $name,
                    r#type: $event.type_name,
                    creation_time: rfc3339($event.created_at),
                    $($field: $value,)*
                }
            }

            $($($more)*)?
        }
    };
}

topic! {
    CircuitBreaker, "circuitbreakerevents",
    CircuitBreakerEventJson {
        circuit_breaker_name,
        error_message: Option<String> = event.error,
        duration_in_ms: Option<u128> = event.duration.map(|duration| duration.as_millis()),
        state_transition: Option<String> = event.transition.map(|(from, to)| format!("{from}_TO_{to}"))
    },
    CircuitBreakerEventList { circuit_breaker_events },
    [
        "ERROR", "IGNORED_ERROR", "SUCCESS", "NOT_PERMITTED", "STATE_TRANSITION", "RESET",
        "FAILURE_RATE_EXCEEDED", "SLOW_CALL_RATE_EXCEEDED"
    ],
    |event|
}

topic! {
    Retry, "retryevents",
    RetryEventJson {
        retry_name,
        error_message: Option<String> = event.error,
        number_of_attempts: Option<u32> = event.attempts
    },
    RetryEventList { retry_events },
    ["RETRY", "ERROR", "SUCCESS", "IGNORED_ERROR"],
    |event|
}

topic! {
    RateLimiter, "ratelimiterevents",
    RateLimiterEventJson { rate_limiter_name },
    RateLimiterEventList { rate_limiter_events },
    ["FAILED_ACQUIRE", "SUCCESSFUL_ACQUIRE", "DRAINED"],
    |event|
}

topic! {
    TimeLimiter, "timelimiterevents",
    TimeLimiterEventJson { time_limiter_name },
    TimeLimiterEventList { time_limiter_events },
    ["SUCCESS", "TIMEOUT", "ERROR"],
    |event|
}

topic! {
    Bulkhead, "bulkheadevents",
    BulkheadEventJson { bulkhead_name },
    BulkheadEventList { bulkhead_events },
    ["CALL_PERMITTED", "CALL_REJECTED", "CALL_FINISHED"],
    |event|;

    fn names(registry: &Resilience) -> Vec<String> {
        let mut both = names::<Self>(registry);
        both.extend(names::<ThreadPoolBulkhead>(registry));
        both
    }

    fn kept(registry: &Resilience, filter: &Filter) -> Vec<(String, RecentEvent)> {
        let mut both = kept::<Self>(registry, filter);
        both.extend(kept::<ThreadPoolBulkhead>(registry, filter));
        both
    }

    fn listen(
        registry: &Resilience,
        filter: &Filter,
        listener: impl Fn(String, InstanceEvent<BulkheadEventKind>) + Clone + Send + Sync + 'static,
    ) -> Vec<Listening> {
        let of_pools = listen::<ThreadPoolBulkhead>(registry, filter, listener.clone());
        vec![listen::<Self>(registry, filter, listener), of_pools]
    }
}
