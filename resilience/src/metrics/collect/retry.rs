use super::{
    events_lost,
    part::{about_keys, parts},
};
use crate::{
    Resilience,
    metrics::family::{About, Families},
};

static CALLS: About =
    About::counter("resilience4j_retry_calls_total", &["kind"], "Calls by how they ended");
static ATTEMPTS: About = About::counter(
    "resilience4j_retry_attempts_total",
    &[],
    "Attempts, and one more for each call whose attempts ran out on results",
);
static STOPPED: About = About::counter(
    "resilience4j_retry_stopped_by_budget_total",
    &[],
    "Calls that failed because their retry budget had no further attempt for them",
);

pub(super) fn collect(registry: &Resilience, families: &mut Families) {
    for retry in registry.retries() {
        for part in parts(&retry) {
            let mut out = families.of(part.owner);
            let [at_once, later, failed_at_once, failed_later, stopped, attempts] = part.counts;
            out.count(&CALLS, &["successful_without_retry"], at_once);
            out.count(&CALLS, &["successful_with_retry"], later);
            out.count(&CALLS, &["failed_without_retry"], failed_at_once);
            out.count(&CALLS, &["failed_with_retry"], failed_later);
            out.count(&ATTEMPTS, &[], attempts);
            out.count(&STOPPED, &[], stopped);
        }
        about_keys(&retry, &retry.keyed_metrics(), families);
        events_lost(&retry, retry.events().lost(), families);
    }
}
