use super::{
    events_lost,
    part::{about_keys, parts},
};
use crate::{
    Resilience,
    metrics::family::{About, Families, number},
};

static AVAILABLE: About = About::gauge(
    "resilience4j_bulkhead_available_concurrent_calls",
    &[],
    "Calls that could start now",
);
static MAX: About = About::gauge(
    "resilience4j_bulkhead_max_allowed_concurrent_calls",
    &[],
    "Calls that run at once at most",
);
/// A semaphore and a thread pool may have one name.
pub(super) static CALLS: About = About::counter(
    "resilience4j_bulkhead_calls_total",
    &["kind", "type"],
    "Calls that were permitted, were rejected, have finished, or were dropped while they waited",
);

pub(super) fn collect(registry: &Resilience, families: &mut Families) {
    for bulkhead in registry.bulkheads() {
        for part in parts(&bulkhead) {
            let mut out = families.of(part.owner);
            let [permitted, rejected, finished, cancelled] = part.counts;
            out.count(&CALLS, &["permitted", "semaphore"], permitted);
            out.count(&CALLS, &["rejected", "semaphore"], rejected);
            out.count(&CALLS, &["finished", "semaphore"], finished);
            out.count(&CALLS, &["cancelled", "semaphore"], cancelled);
            if let Some(bulkhead) = part.live {
                let metrics = bulkhead.metrics();
                out.level(&AVAILABLE, &[], number(metrics.available_concurrent_calls));
                out.level(&MAX, &[], number(metrics.max_concurrent_calls));
            }
        }
        about_keys(&bulkhead, &bulkhead.keyed_metrics(), families);
        events_lost(&bulkhead, bulkhead.events().lost(), families);
    }
}
