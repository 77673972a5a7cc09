use std::collections::{HashMap, HashSet};

use serde::Serialize;

use super::views::{
    BulkheadView, CircuitBreakerView, RateLimiterView, RetryView, StoreView,
    ThreadPoolBulkheadView, TimeLimiterView, View,
};
use crate::Resilience;

macro_rules! instances {
    ($($field:ident: $view:ident of $all:ident),* $(,)?) => {
        /// All instances at one time, each pattern's sorted by name.
        #[derive(Debug, PartialEq, Serialize)]
        #[serde(rename_all = "camelCase")]
        pub(in crate::actuator) struct Instances {
            $($field: Vec<$view>,)*
            #[serde(skip_serializing_if = "Option::is_none")]
            store: Option<StoreView>,
        }

        impl Instances {
            pub(in crate::actuator) fn of(registry: &Resilience) -> Self {
                Self {
                    $($field: registry.$all().iter().map($view::of).collect(),)*
                    store: StoreView::of(registry),
                }
            }
        }

        /// What is different at a later time.
        #[derive(Debug, Serialize)]
        #[serde(rename_all = "camelCase")]
        pub(in crate::actuator) struct Diff<'a> {
            $($field: Vec<&'a $view>,)*
            #[serde(skip_serializing_if = "Option::is_none")]
            store: Option<&'a StoreView>,
            removed: Removed<'a>,
        }

        /// The names of those that are gone.
        #[derive(Debug, Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Removed<'a> {
            $($field: Vec<&'a str>,)*
        }

        impl<'a> Diff<'a> {
            pub(in crate::actuator) fn between(before: &'a Instances, now: &'a Instances) -> Self {
                Self {
                    $($field: changed(&before.$field, &now.$field),)*
                    store: now.store.as_ref(),
                    removed: Removed { $($field: gone(&before.$field, &now.$field),)* },
                }
            }
        }
    };
}

instances! {
    circuit_breakers: CircuitBreakerView of circuit_breakers,
    retries: RetryView of retries,
    rate_limiters: RateLimiterView of rate_limiters,
    time_limiters: TimeLimiterView of time_limiters,
    bulkheads: BulkheadView of bulkheads,
    thread_pool_bulkheads: ThreadPoolBulkheadView of thread_pool_bulkheads,
}

/// New ones and those that look different.
fn changed<'a, V: View>(before: &[V], now: &'a [V]) -> Vec<&'a V> {
    let before: HashMap<_, _> = before.iter().map(|view| (view.name(), view)).collect();
    now.iter().filter(|view| before.get(view.name()) != Some(view)).collect()
}

fn gone<'a, V: View>(before: &'a [V], now: &[V]) -> Vec<&'a str> {
    let now: HashSet<_> = now.iter().map(View::name).collect();
    before.iter().map(View::name).filter(|name| !now.contains(name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Config;

    #[test]
    fn only_what_is_different_new_or_gone_is_told() {
        let registry = Resilience::from_config(Config::default()).unwrap();
        for name in ["calm", "busy", "old"] {
            registry.bulkhead(name);
        }
        let before = Instances::of(&registry);
        let _slot = registry.bulkhead("busy").try_acquire().unwrap();
        registry.bulkhead("new");
        registry.remove("old");
        let now = Instances::of(&registry);
        let diff = Diff::between(&before, &now);
        let names: Vec<_> = diff.bulkheads.iter().map(|view| view.name()).collect();
        assert_eq!(names, ["busy", "new"]);
        assert_eq!(diff.removed.bulkheads, ["old"]);
        assert!(diff.retries.is_empty());
    }
}
