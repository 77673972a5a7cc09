//! What there is to tell of a registry: a file for each pattern says which numbers it has, what they are
//! called and what they mean.

mod budget;
mod bulkhead;
mod circuit_breaker;
mod part;
mod rate_limiter;
mod registry;
mod retry;
#[cfg(feature = "redis")]
mod store;
mod thread_pool;
mod time_limiter;

use super::family::{About, Families, Family, Owner};
use crate::{Resilience, registry::Managed};

static EVENTS_LOST: About = About::counter(
    "resilience_events_lost_total",
    &["pattern"],
    "Events that were lost because listeners were too slow",
);

/// All families of a registry, sorted.
pub(super) fn collect(registry: &Resilience) -> impl Iterator<Item = Family> {
    let mut families = Families::default();
    circuit_breaker::collect(registry, &mut families);
    retry::collect(registry, &mut families);
    budget::collect(registry, &mut families);
    rate_limiter::collect(registry, &mut families);
    time_limiter::collect(registry, &mut families);
    bulkhead::collect(registry, &mut families);
    thread_pool::collect(registry, &mut families);
    registry::collect(registry, &mut families);
    #[cfg(feature = "redis")]
    store::collect(registry, &mut families);
    families.sorted()
}

fn events_lost<T: Managed>(instance: &T, lost: u64, families: &mut Families) {
    families.of(Owner::named(instance.name())).count(&EVENTS_LOST, part::pattern::<T>(), lost);
}
