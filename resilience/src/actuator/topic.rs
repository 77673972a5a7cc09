//! What the endpoints of one pattern's events need to know of it.

use serde::{Deserialize, Serialize};

use super::{
    listening::{Listening, Reach},
    problem::Problem,
    router::LONGEST_NAME,
    time::rfc3339,
};
use crate::{
    Bulkhead, CircuitBreaker, RateLimiter, Resilience, Retry, ThreadPoolBulkhead, TimeLimiter,
    bulkhead::BulkheadEventKind,
    circuit_breaker::CircuitBreakerEventKind,
    events::{Event, EventKind, Events, InstanceEvent, RecentEvent},
    rate_limiter::RateLimiterEventKind,
    registry::Kept,
    retry::RetryEventKind,
    time_limiter::TimeLimiterEventKind,
};

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
    ($($instance:ident: $kind:ident $(as $prefix:literal)?;)*) => {
        $(impl Watched for $instance {
            type Kind = $kind;

            fn all_events(&self) -> Events<InstanceEvent<$kind>> {
                self.events()
            }

            $(fn shown(name: &str) -> String {
                format!(concat!($prefix, "{}"), name)
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
    ThreadPoolBulkhead: BulkheadEventKind as "ThreadPoolBulkhead-";
}

/// A pattern that has endpoints for its events. Thread pools are with the bulkheads.
pub(super) trait Topic: Watched {
    /// The path of its lists; that of its streams has `stream` before it.
    const EVENTS: &'static str;
    /// The types of its events, Resilience4j's.
    const TYPES: &'static [&'static str];
    /// An event in Resilience4j's shape.
    type Json: Serialize;
    /// A list of them.
    type List: Serialize + From<Vec<Self::Json>>;

    fn json(name: String, event: RecentEvent) -> Self::Json;

    /// All names that there are events of.
    fn names(registry: &Resilience) -> Vec<String> {
        names::<Self>(registry)
    }

    /// The kept events, each with the name it is found under.
    fn kept(registry: &Resilience, filter: &Filter) -> Vec<(String, RecentEvent)> {
        kept::<Self>(registry, filter)
    }

    /// Listens to what the filter lets through, until it is dropped.
    fn listen(
        registry: &Resilience,
        filter: &Filter,
        listener: impl Fn(String, InstanceEvent<Self::Kind>) + Clone + Send + Sync + 'static,
    ) -> Vec<Listening> {
        vec![listen::<Self>(registry, filter, listener)]
    }
}

fn names<T: Watched>(registry: &Resilience) -> Vec<String> {
    T::all_in(registry).iter().map(|instance| T::shown(instance.name())).collect()
}

fn kept<T: Watched>(registry: &Resilience, filter: &Filter) -> Vec<(String, RecentEvent)> {
    let instances = T::all_in(registry).into_iter();
    let named = instances.map(|instance| (T::shown(instance.name()), instance));
    let wanted = named.filter(|(name, _)| filter.wants_name(name));
    wanted
        .flat_map(|(name, instance)| {
            let events = instance.all_events().recent().into_iter();
            events.map(move |event| (name.clone(), event))
        })
        .filter(|(_, event)| filter.wants_type(event.type_name))
        .collect()
}

fn listen<T: Watched>(
    registry: &Resilience,
    filter: &Filter,
    listener: impl Fn(String, InstanceEvent<T::Kind>) + Clone + Send + Sync + 'static,
) -> Listening {
    let (of_name, of_type) = (filter.clone(), filter.clone());
    Listening::to::<T>(
        registry,
        Reach::All,
        move |name| of_name.wants_name(&T::shown(name)),
        move |event| {
            if of_type.wants_type(event.type_name()) {
                listener(T::shown(&event.instance), event.clone());
            }
        },
    )
}

/// The events that a path asks for.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Filter {
    name: Option<String>,
    #[serde(rename = "type")]
    event_type: Option<String>,
}

impl Filter {
    /// The same with the type as it is spelled.
    pub(super) fn checked<T: Topic>(self) -> Result<Self, Problem> {
        let Self { name, event_type } = self;
        let name = name.map(|name| Name { name }.checked()).transpose()?;
        let spelled = |event_type: String| {
            let mut types = T::TYPES.iter();
            types.find(|known| known.eq_ignore_ascii_case(&event_type)).ok_or_else(|| {
                let types = T::TYPES.join(", ");
                Problem::bad_request(format!("no such type of events: expected one of {types}"))
            })
        };
        let event_type = event_type.map(spelled).transpose()?.map(|known| (*known).to_owned());
        Ok(Self { name, event_type })
    }

    fn wants_name(&self, name: &str) -> bool {
        self.name.as_ref().is_none_or(|wanted| wanted == name)
    }

    fn wants_type(&self, event_type: &str) -> bool {
        self.event_type.as_ref().is_none_or(|wanted| wanted == event_type)
    }
}

/// The name of an instance in a path.
#[derive(Debug, Deserialize)]
pub(super) struct Name {
    name: String,
}

impl Name {
    pub(super) fn checked(self) -> Result<String, Problem> {
        if self.name.chars().count() > LONGEST_NAME {
            let message = format!("no name is longer than {LONGEST_NAME} characters");
            return Err(Problem::bad_request(message));
        }
        Ok(self.name)
    }
}

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
