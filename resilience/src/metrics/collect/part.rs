//! An instance and its keys: which numbers are whose.

use std::sync::Arc;

use resilience_settings::Pattern;

use crate::{
    keyed::{Apart, Counts as _, KeyedMetrics, Member},
    metrics::family::{About, Families, Owner, number},
    registry::Managed,
};

static LIVE: About =
    About::gauge("resilience_keyed_live", &["pattern"], "Keys that have an instance of their own");
static CREATED: About =
    About::counter("resilience_keyed_created_total", &["pattern"], "Instances made for a key");
static EVICTED: About = About::counter(
    "resilience_keyed_evicted_total",
    &["pattern"],
    "Instances of keys that went because nobody used them",
);
static OVERFLOWED: About = About::counter(
    "resilience_keyed_overflowed_total",
    &["pattern"],
    "Look-ups of a key that got the shared instance because max_keys others were there",
);

/// What is told apart under a name.
pub(super) struct Part<T: Member> {
    pub(super) owner: Owner,
    pub(super) counts: T::Counts,
    /// Whose state it is; a listed key may have none.
    pub(super) live: Option<T>,
}

/// An instance with the counts of all keys that are not listed, then each that is.
pub(super) fn parts<T: Member>(instance: &T) -> Vec<Part<T>> {
    let tally = instance.keys().tally();
    let mut counts = instance.counts();
    counts.add(&tally.others);
    let name: Arc<str> = instance.name().into();
    let owner = |key| Owner::Instance { name: Arc::clone(&name), key };
    let whole = Part { owner: owner(Arc::default()), counts, live: Some(instance.clone()) };
    let part = |Apart { key, counts, live }| Part { owner: owner(key), counts, live };
    [whole].into_iter().chain(tally.apart.into_iter().map(part)).collect()
}

/// How many keys there are.
pub(super) fn about_keys<T: Member>(instance: &T, keys: &KeyedMetrics, families: &mut Families) {
    let (mut out, pattern) = (families.of(Owner::named(instance.name())), pattern::<T>());
    out.level(&LIVE, pattern, number(keys.live));
    out.count(&CREATED, pattern, keys.created);
    out.count(&EVICTED, pattern, keys.evicted);
    out.count(&OVERFLOWED, pattern, keys.overflowed);
}

/// The value of the label `pattern`.
pub(super) fn pattern<T: Managed>() -> &'static [&'static str] {
    match T::PATTERN {
        Pattern::CircuitBreaker => &["circuitbreaker"],
        Pattern::Retry => &["retry"],
        Pattern::RateLimiter => &["ratelimiter"],
        Pattern::TimeLimiter => &["timelimiter"],
        Pattern::Bulkhead => &["bulkhead"],
        Pattern::ThreadPoolBulkhead => &["thread-pool-bulkhead"],
    }
}
