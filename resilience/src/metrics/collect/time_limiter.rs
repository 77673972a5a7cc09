use super::{
    events_lost,
    part::{about_keys, parts},
};
use crate::{
    Resilience,
    metrics::family::{About, Families},
};

static CALLS: About =
    About::counter("resilience4j_timelimiter_calls_total", &["kind"], "Calls by how they ended");

pub(super) fn collect(registry: &Resilience, families: &mut Families) {
    for limiter in registry.time_limiters() {
        for part in parts(&limiter) {
            let mut out = families.of(part.owner);
            let [successful, failed, timeout] = part.counts;
            out.count(&CALLS, &["successful"], successful);
            out.count(&CALLS, &["failed"], failed);
            out.count(&CALLS, &["timeout"], timeout);
        }
        about_keys(&limiter, &limiter.keyed_metrics(), families);
        events_lost(&limiter, limiter.events().lost(), families);
    }
}
