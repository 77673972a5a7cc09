use super::{bulkhead::CALLS, events_lost};
use crate::{
    Resilience,
    metrics::family::{About, Families, Owner, number},
};

static DEPTH: About =
    About::gauge("resilience4j_bulkhead_queue_depth", &[], "Calls that wait for a thread");
static CAPACITY: About =
    About::gauge("resilience4j_bulkhead_queue_capacity", &[], "Calls that may wait at most");
static SIZE: About =
    About::gauge("resilience4j_bulkhead_thread_pool_size", &[], "Threads there are");
static CORE: About = About::gauge(
    "resilience4j_bulkhead_core_thread_pool_size",
    &[],
    "Threads that are started before calls wait",
);
static MAX: About =
    About::gauge("resilience4j_bulkhead_max_thread_pool_size", &[], "Threads there are at most");
static ACTIVE: About =
    About::gauge("resilience4j_bulkhead_active_thread_count", &[], "Threads that run a call");
static AVAILABLE: About = About::gauge(
    "resilience4j_bulkhead_available_thread_count",
    &[],
    "Calls more that could run at once",
);

pub(super) fn collect(registry: &Resilience, families: &mut Families) {
    for pool in registry.thread_pool_bulkheads() {
        let metrics = pool.metrics();
        let mut out = families.of(Owner::named(pool.name()));
        out.count(&CALLS, &["permitted", "thread_pool"], metrics.permitted);
        out.count(&CALLS, &["rejected", "thread_pool"], metrics.rejected);
        out.count(&CALLS, &["finished", "thread_pool"], metrics.finished);
        out.count(&CALLS, &["cancelled", "thread_pool"], metrics.cancelled);
        out.level(&DEPTH, &[], number(metrics.queue_depth));
        out.level(&CAPACITY, &[], number(metrics.queue_capacity));
        out.level(&SIZE, &[], number(metrics.thread_pool_size));
        out.level(&CORE, &[], number(metrics.core_thread_pool_size));
        out.level(&MAX, &[], number(metrics.max_thread_pool_size));
        out.level(&ACTIVE, &[], number(metrics.active_thread_count));
        out.level(&AVAILABLE, &[], number(metrics.available_thread_count));
        events_lost(&pool, pool.events().lost(), families);
    }
}
