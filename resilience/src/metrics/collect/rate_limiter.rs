use super::{
    events_lost,
    part::{about_keys, parts},
};
use crate::{
    Resilience,
    metrics::family::{About, Families, number},
};

static AVAILABLE: About = About::gauge(
    "resilience4j_ratelimiter_available_permissions",
    &[],
    "Permissions there are, below 0 when calls wait for those of later periods",
);
static WAITING: About =
    About::gauge("resilience4j_ratelimiter_waiting_threads", &[], "Calls that wait for their turn");
static CALLS: About = About::counter(
    "resilience4j_ratelimiter_calls_total",
    &["kind"],
    "Calls that were permitted, refused, or dropped while they waited",
);

pub(super) fn collect(registry: &Resilience, families: &mut Families) {
    for limiter in registry.rate_limiters() {
        for part in parts(&limiter) {
            let mut out = families.of(part.owner);
            let [permitted, refused, cancelled] = part.counts;
            out.count(&CALLS, &["permitted"], permitted);
            out.count(&CALLS, &["refused"], refused);
            out.count(&CALLS, &["cancelled"], cancelled);
            if let Some(limiter) = part.live {
                let metrics = limiter.metrics();
                out.level(&AVAILABLE, &[], signed(metrics.available_permissions));
                out.level(&WAITING, &[], number(metrics.waiting));
            }
        }
        about_keys(&limiter, &limiter.keyed_metrics(), families);
        events_lost(&limiter, limiter.events().lost(), families);
    }
}

fn signed(n: i64) -> f64 {
    let size = number(n.unsigned_abs());
    if n < 0 { -size } else { size }
}
