//! A limit that all processes which share a store have together.

mod ask;
mod lease;
mod limited;
mod queue;
mod verdict;
mod wish;

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use tokio::sync::Semaphore;

pub(super) use ask::{ask, ask_blocking};
use lease::Lease;
pub(super) use limited::Limited;
use queue::Queue;
use verdict::Verdict;
use wish::Wish;

use super::{
    config::{Algorithm, OnStoreFailure, RateLimiterConfig},
    instance::RateLimiter,
};
use crate::{
    backing::Backing,
    clock::saturating_nanos,
    store::{FIXED_WINDOW, GCRA, Key, Script, Store},
    sync::plain::{Mutex, MutexGuard},
};

/// How late somebody may be to ask again, beside the time for a decision.
const LATE: Duration = Duration::from_secs(1);

/// What a limiter needs to have its limit counted elsewhere.
pub(super) struct Global {
    /// The store and where the limit is in it. Without, the limiter is as if the store were away.
    place: Option<(Store, Key)>,
    script: &'static Script,
    limit: u32,
    /// Microseconds.
    period: u128,
    block: u32,
    policy: OnStoreFailure,
    lease: Mutex<Lease>,
    /// Held by the one who fetches a block: the others wait for what it brings.
    fetching: Semaphore,
    queue: Queue,
    /// For how long the first one in it may be late, in nanoseconds.
    patience: u64,
    /// What the store had left when it was last asked.
    left: AtomicI64,
}

impl Global {
    pub(super) fn new(
        config: &RateLimiterConfig,
        backing: &Backing,
        limited: Limited<'_>,
        before: Option<&Self>,
    ) -> Self {
        let limit = config.limit_for_period();
        Self {
            place: backing.store().map(|store| (store.clone(), limited.place(store))),
            script: match config.algorithm() {
                Algorithm::FixedWindow => &FIXED_WINDOW,
                Algorithm::Gcra => &GCRA,
            },
            limit,
            period: config.limit_refresh_period().as_micros(),
            block: config.lease(),
            policy: config.on_store_failure().unwrap_or(OnStoreFailure::Closed),
            lease: Mutex::new(Lease::default()),
            fetching: Semaphore::new(1),
            // Whoever waits keeps its place when settings change.
            queue: before.map_or_else(Queue::new, |before| before.queue.clone()),
            patience: saturating_nanos(
                LATE + backing.store().map_or(Duration::ZERO, Store::decision_timeout),
            ),
            left: AtomicI64::new(limit.into()),
        }
    }

    /// Takes permissions that were fetched before, unless others wait for them.
    pub(super) fn take_at_once(&self, permits: u32, now: u64) -> bool {
        self.block > 1 && !self.queue.is_taken() && self.lease().take(permits, now)
    }

    /// Permissions that can be had at once, as far as this process knows.
    pub(super) fn available(&self, now: u64) -> i64 {
        self.left.load(Ordering::Relaxed) + i64::from(self.lease().left(now))
    }

    pub(super) fn waiting(&self) -> u64 {
        self.queue.len()
    }

    /// When the first one that waits is lost: it should have asked again by then. Whoever began its call
    /// polls no more without dropping it, which must not keep out the others for good.
    fn front_is_lost_at(&self) -> u64 {
        self.queue.front_sleeps_until().saturating_add(self.patience)
    }

    fn front_is_lost(&self, now: u64) -> bool {
        self.queue.is_taken() && self.front_is_lost_at() <= now
    }

    /// Gives up what was fetched, and says how many permissions that were.
    pub(super) fn drop_lease(&self, now: u64) -> u32 {
        let mut lease = self.lease();
        let left = lease.left(now);
        *lease = Lease::default();
        left
    }

    /// Whether nothing of the limit is held here.
    pub(super) fn is_at_rest(&self, now: u64) -> bool {
        self.lease().left(now) == 0 && self.waiting() == 0
    }

    /// Asks the store for permissions. A block is fetched on the store's thread: who wants it may poll
    /// no more without being dropped, which must not hold up the others who want one.
    async fn fetch(self: &Arc<Self>, limiter: &RateLimiter, permits: u32) -> Verdict {
        let Some((store, key)) = &self.place else {
            return Verdict::Undecided { rests_for: None };
        };
        let wish = Wish::new(permits, limiter.clock().now(), store.due());
        if self.block <= 1 {
            return self.decide(store, key, wish).await;
        }
        let (global, to, key) = (Arc::clone(self), store.clone(), key.clone());
        let fetched = store.run(async move { global.fetch_block(&to, &key, wish).await });
        fetched.await.unwrap_or(Verdict::Undecided { rests_for: None })
    }

    /// One at a time, since the one before may have brought enough for others; the wait for one's turn
    /// is part of the decision's time.
    async fn fetch_block(&self, store: &Store, key: &Key, wish: Wish) -> Verdict {
        let _turn = self.fetching.acquire().await;
        if self.lease().take(wish.permits, wish.now()) {
            let left = self.left.load(Ordering::Relaxed);
            return Verdict::Taken { rest: 0, left, good_for: 0 };
        }
        self.decide(store, key, wish).await
    }

    async fn decide(&self, store: &Store, key: &Key, wish: Wish) -> Verdict {
        let permits = wish.permits;
        let most = permits.max(self.block);
        let numbers = [self.limit.into(), self.period, permits.into(), most.into()];
        let arguments = numbers.map(|number| number.to_string()).into();
        // What is fetched is good from when the store decided, which is no earlier.
        let asked = wish.now();
        let answer = store.decide_before(wish.due, self.script, key, arguments).await;
        let is_answered = answer.is_ok();
        let verdict = Verdict::of(answer, permits);
        match verdict {
            Verdict::Taken { rest, left, good_for } => {
                self.left.store(left, Ordering::Relaxed);
                if rest > 0 {
                    self.lease().put(rest, asked.saturating_add(good_for));
                }
            }
            Verdict::Refused { left, .. } => self.left.store(left, Ordering::Relaxed),
            Verdict::Undecided { .. } if is_answered => store.note_garbage(),
            Verdict::Undecided { .. } => {}
        }
        verdict
    }

    fn lease(&self) -> MutexGuard<'_, Lease> {
        self.lease.lock()
    }
}

impl fmt::Debug for Global {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Global").field("limit", &self.limit).finish_non_exhaustive()
    }
}
