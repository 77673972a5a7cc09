use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use super::{StoreEvent, StoreEventKind, StoreFailure, StoreMetrics};
use crate::{
    Clock,
    aftermath::Aftermath,
    events::Events,
    sync::{
        atomic::{AtomicU64, Ordering},
        plain::Mutex,
    },
};

/// A time without failures that ends an episode: two failures within it are of one.
const CALM: Duration = Duration::from_secs(1);
/// How many events are kept.
const KEPT: usize = 100;

/// How a store does: counts, and the episodes in which it does not decide.
pub(super) struct Health {
    namespace: Arc<str>,
    clock: Clock,
    events: Events<StoreEvent>,
    decided: AtomicU64,
    failures: [AtomicU64; StoreFailure::ALL.len()],
    episode: Mutex<Option<Episode>>,
}

struct Episode {
    began: Instant,
    failed_last: Instant,
}

impl Health {
    pub(super) fn new(namespace: &str) -> Self {
        Self {
            namespace: namespace.into(),
            clock: Clock::system(),
            events: Events::new(KEPT),
            decided: AtomicU64::new(0),
            failures: std::array::from_fn(|_| AtomicU64::new(0)),
            episode: Mutex::new(None),
        }
    }

    pub(super) fn events(&self) -> &Events<StoreEvent> {
        &self.events
    }

    /// Takes note of an answer, or of why there is none. What it leaves to be done runs the code of
    /// others: it must hold up no decision.
    #[must_use]
    pub(super) fn note(&self, answer: Option<StoreFailure>) -> Option<Aftermath> {
        match answer {
            None => self.decided(Instant::now()),
            Some(failure) => self.failed(failure, Instant::now()),
        }
    }

    fn decided(&self, now: Instant) -> Option<Aftermath> {
        self.decided.fetch_add(1, Ordering::Relaxed);
        let mut episode = self.episode.lock();
        let Episode { began, failed_last } = episode.as_ref()?;
        if now.saturating_duration_since(*failed_last) < CALM {
            return None;
        }
        let after = now.saturating_duration_since(*began);
        *episode = None;
        // Under the lock, which orders the events.
        Some(self.news(StoreEventKind::Recovered { after }))
    }

    fn failed(&self, failure: StoreFailure, now: Instant) -> Option<Aftermath> {
        self.failures[failure as usize].fetch_add(1, Ordering::Relaxed);
        let mut episode = self.episode.lock();
        if let Some(episode) = &mut *episode {
            episode.failed_last = now;
            return None;
        }
        *episode = Some(Episode { began: now, failed_last: now });
        Some(self.news(StoreEventKind::Degraded { failure }))
    }

    fn news(&self, kind: StoreEventKind) -> Aftermath {
        let event = self.events.event(&self.namespace, self.clock.now(), kind);
        self.events.push(event);
        let (events, namespace) = (self.events.clone(), Arc::clone(&self.namespace));
        Aftermath::new(move || {
            match kind {
                StoreEventKind::Degraded { failure } => log::degraded(&namespace, failure),
                StoreEventKind::Recovered { after } => log::recovered(&namespace, after),
            }
            events.deliver();
        })
    }

    pub(super) fn metrics(&self) -> StoreMetrics {
        let episode = self.episode.lock();
        StoreMetrics {
            degraded: episode.is_some(),
            decided: self.decided.load(Ordering::Relaxed),
            failures: std::array::from_fn(|reason| self.failures[reason].load(Ordering::Relaxed)),
        }
    }
}

#[cfg(feature = "tracing")]
mod log {
    use std::time::Duration;

    use crate::{harmless::harmless, store::StoreFailure};

    /// A name of its own, so that filters do not depend on where this file is.
    const TARGET: &str = "resilience::store";

    pub(super) fn degraded(namespace: &str, failure: StoreFailure) {
        harmless(|| {
            tracing::warn!(
                target: TARGET,
                namespace,
                reason = failure.as_str(),
                "the store decides no more: limits follow their `on_store_failure`"
            );
        });
    }

    pub(super) fn recovered(namespace: &str, after: Duration) {
        harmless(|| tracing::info!(target: TARGET, namespace, ?after, "the store decides again"));
    }
}

#[cfg(not(feature = "tracing"))]
mod log {
    use std::time::Duration;

    use crate::store::StoreFailure;

    pub(super) fn degraded(_: &str, _: StoreFailure) {}
    pub(super) fn recovered(_: &str, _: Duration) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events(health: &Health) -> Vec<&'static str> {
        health.events.recent().iter().map(|event| event.type_name).collect()
    }

    #[test]
    fn an_episode_is_one_event_however_many_decisions_fail() {
        let (health, now) = (Health::new("shop"), Instant::now());
        for failure in [StoreFailure::Timeout, StoreFailure::Guard, StoreFailure::Guard] {
            drop(health.failed(failure, now));
        }
        assert_eq!(events(&health), ["DEGRADED"]);
        assert!(health.metrics().degraded);
        assert_eq!(health.metrics().failed(StoreFailure::Guard), 2);
        assert_eq!(health.metrics().all_failed(), 3);
    }

    #[test]
    fn it_is_over_once_the_store_decides_and_has_not_failed_for_a_second() {
        let (health, now) = (Health::new("shop"), Instant::now());
        drop(health.failed(StoreFailure::Timeout, now));
        drop(health.decided(now + CALM / 2));
        assert!(health.metrics().degraded, "it may fail again at once");
        drop(health.decided(now + CALM));
        assert!(!health.metrics().degraded);
        assert_eq!(events(&health), ["DEGRADED", "RECOVERED"]);
        assert_eq!(health.metrics().decided, 2);
    }
}
