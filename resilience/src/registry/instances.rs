use std::{
    collections::{HashMap, hash_map::Entry},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use resilience_settings::{Pattern, Value};

use super::in_force::InForce;
use crate::{
    Bulkhead, CircuitBreaker, RateLimiter, Retry, ThreadPoolBulkhead, TimeLimiter,
    aftermath::Aftermath,
    backing::Backing,
    bulkhead::BulkheadConfig,
    circuit_breaker::CircuitBreakerConfig,
    clock::Clock,
    config::{Problem, Settings},
    keyed,
    rate_limiter::RateLimiterConfig,
    retry::{RetryBudget, RetryConfig},
    sync::plain::{RwLock, RwLockWriteGuard},
    thread_pool_bulkhead::ThreadPoolBulkheadConfig,
    time_limiter::TimeLimiterConfig,
};

/// What the registry needs to know of a pattern's instances.
pub(crate) trait Managed: Clone + Send + Sync + 'static {
    const PATTERN: Pattern;
    type Config: Default;

    fn from_settings(settings: &Settings) -> Result<Self::Config, Vec<Problem>>;
    /// The same with the retry budget that it names; `look_up` gets it by its name.
    fn find_budget(
        config: Self::Config,
        _look_up: impl FnOnce(&str) -> RetryBudget,
    ) -> Self::Config {
        config
    }
    fn with_clock(name: Arc<str>, config: Self::Config, clock: Clock) -> Self;
    /// The same with what stands behind it, for instances that share something.
    fn backed(name: Arc<str>, config: Self::Config, clock: Clock, _backing: &Backing) -> Self {
        Self::with_clock(name, config, clock)
    }
    /// Looks again at what stands behind it: a store has come.
    fn look_behind(&self) -> Aftermath {
        Aftermath::default()
    }
    fn reconfigure(&self, config: Self::Config) -> Aftermath;
    /// Those of its settings that can be changed by hand, as they are in force.
    fn changeable(&self) -> Vec<(&'static str, Value)>;
    fn enable(&self, on: bool) -> Aftermath;
    /// Whether all of its events are kept.
    fn capture(&self, all: bool);
    fn name(&self) -> &str;
    /// Lets go of what an instance holds for others: it was removed, and handles may live on.
    fn retire(&self);
}

macro_rules! managed {
    (
        $($instance:ident: $config:ident $({ $($key:ident: $value:ident),* })? $(on $budget:path)? $([$backed:ident])? $(=> $clear:path)?),*
        $(,)?
    ) => {
        $(impl Managed for $instance {
            const PATTERN: Pattern = Pattern::$instance;
            type Config = $config;

            fn from_settings(settings: &Settings) -> Result<$config, Vec<Problem>> {
                $config::from_settings(settings)
            }

            $(fn find_budget(
                config: $config,
                look_up: impl FnOnce(&str) -> RetryBudget,
            ) -> $config {
                $budget(config, look_up)
            })?

            fn with_clock(name: Arc<str>, config: $config, clock: Clock) -> Self {
                $instance::with_clock(name, config, clock)
            }

            $(fn backed(name: Arc<str>, config: $config, clock: Clock, backing: &Backing) -> Self {
                $instance::$backed(name, config, clock, backing.clone())
            }

            fn look_behind(&self) -> Aftermath {
                $instance::look_behind(self)
            })?

            fn reconfigure(&self, config: $config) -> Aftermath {
                $instance::reconfigure(self, config)
            }

            fn changeable(&self) -> Vec<(&'static str, Value)> {
                let config = $instance::config(self);
                vec![
                    ("enabled", Value::Bool(config.is_enabled())),
                    $($((stringify!($key), Value::$value(config.$key().into())),)*)?
                ]
            }

            fn enable(&self, on: bool) -> Aftermath {
                $instance::enable(self, on)
            }

            fn capture(&self, all: bool) {
                self.events().capture(all);
            }

            fn retire(&self) {
                self.events().close();
                $($clear(self);)?
            }

            fn name(&self) -> &str {
                $instance::name(self)
            }
        })*
    };
}

managed! {
    CircuitBreaker: CircuitBreakerConfig [backed] => keyed::clear,
    Retry: RetryConfig on RetryConfig::find_budget => keyed::clear,
    RateLimiter: RateLimiterConfig { limit_for_period: Integer, timeout_duration: Duration } [backed] => keyed::clear,
    TimeLimiter: TimeLimiterConfig => keyed::clear,
    Bulkhead: BulkheadConfig { max_concurrent_calls: Integer } => keyed::clear,
    ThreadPoolBulkhead: ThreadPoolBulkheadConfig,
}

/// Who asks for an instance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum By {
    /// A function, a stack, a layer or a line of the program.
    Program,
    /// The registry itself, which makes what is declared.
    Registry,
}

#[derive(Debug)]
struct Slot<T> {
    instance: T,
    /// Whether the program has looked it up.
    looked_up: AtomicBool,
}

impl<T: Clone> Slot<T> {
    fn look_up(&self) -> T {
        // Every look-up would write to a line that all of them read.
        if !self.looked_up.load(Ordering::Relaxed) {
            self.looked_up.store(true, Ordering::Relaxed);
        }
        self.instance.clone()
    }
}

/// The instances of one pattern by key: see [`InForce::key`](super::in_force::InForce::key).
#[derive(Debug)]
pub(super) struct Instances<T> {
    known: RwLock<Known<T>>,
}

#[derive(Debug)]
struct Known<T> {
    by_key: HashMap<String, Slot<T>>,
    /// The keys of names as the program has spelled them: to find one again allocates nothing.
    keys: HashMap<String, String>,
}

/// How many spellings are kept for each instance: names may be made up at run time.
const SPELLINGS: usize = 4;

impl<T> Known<T> {
    fn has_room_for_spellings(&self) -> bool {
        self.keys.len() < SPELLINGS * self.by_key.len()
    }
}

impl<T> Default for Instances<T> {
    fn default() -> Self {
        Self { known: RwLock::new(Known { by_key: HashMap::new(), keys: HashMap::new() }) }
    }
}

impl<T: Managed> Instances<T> {
    pub(super) fn find(&self, key: &str) -> Option<T> {
        self.known.read().by_key.get(key).map(|slot| slot.instance.clone())
    }

    /// As [`find`](Self::find), for the program.
    pub(super) fn look_up(&self, key: &str) -> Option<T> {
        self.known.read().by_key.get(key).map(Slot::look_up)
    }

    /// As [`look_up`](Self::look_up), by a name that was looked up in this very spelling before.
    pub(super) fn look_up_again(&self, name: &str) -> Option<T> {
        let known = self.known.read();
        known.by_key.get(known.keys.get(name)?).map(Slot::look_up)
    }

    /// Keeps the key of a name for the next look-up, unless it `is_stale` by now.
    pub(super) fn remember(&self, name: &str, key: String, is_stale: impl FnOnce() -> bool) {
        if !self.known.read().has_room_for_spellings() {
            return;
        }
        let mut known = self.known.write();
        if known.has_room_for_spellings() && !is_stale() {
            known.keys.insert(name.to_owned(), key);
        }
    }

    pub(super) fn was_looked_up(&self, key: &str) -> bool {
        let known = self.known.read();
        known.by_key.get(key).is_some_and(|slot| slot.looked_up.load(Ordering::Relaxed))
    }

    /// Puts an instance in, unless `is_stale` by now, and calls `added` under the lock if it is the
    /// first of its key: it is everybody's then. Gives that one, and whether it is new.
    pub(super) fn insert(
        &self,
        key: String,
        instance: &T,
        by: By,
        is_stale: impl FnOnce() -> bool,
        added: impl FnOnce(),
    ) -> Option<(T, bool)> {
        let mut known = self.known.write();
        if is_stale() {
            return None;
        }
        Some(match known.by_key.entry(key) {
            Entry::Occupied(first) => match by {
                By::Program => (first.get().look_up(), false),
                By::Registry => (first.get().instance.clone(), false),
            },
            Entry::Vacant(place) => {
                added();
                let looked_up = AtomicBool::new(by == By::Program);
                place.insert(Slot { instance: instance.clone(), looked_up });
                (instance.clone(), true)
            }
        })
    }

    /// Takes an instance out and calls `removed` with it under the lock. The caller retires it.
    pub(super) fn take(&self, key: &str, removed: impl FnOnce(&T)) -> Option<T> {
        let mut known = self.known.write();
        known.by_key.remove(key).map(|slot| slot.instance).inspect(removed)
    }

    /// Keeps everybody else out.
    pub(super) fn lock(&self) -> Locked<'_, T> {
        Locked(self.known.write())
    }

    pub(super) fn all(&self) -> Vec<T> {
        let mut all: Vec<T> =
            self.known.read().by_key.values().map(|slot| slot.instance.clone()).collect();
        all.sort_by(|a, b| a.name().cmp(b.name()));
        all
    }
}

/// The instances of a pattern, for one change together with those of others.
pub(super) struct Locked<'a, T>(RwLockWriteGuard<'a, Known<T>>);

impl<T: Managed> Locked<'_, T> {
    /// Gives every instance the key that it has by what is in force. Where two now have one key, the
    /// one of the known spelling stays, else the first by name; the others are returned.
    pub(super) fn rekey(&mut self, in_force: &InForce) -> Vec<T> {
        self.0.keys.clear();
        let mut slots: Vec<Slot<T>> = self.0.by_key.drain().map(|(_, slot)| slot).collect();
        slots.sort_by(|a, b| a.instance.name().cmp(b.instance.name()));
        let mut displaced = Vec::new();
        for slot in slots {
            let name = slot.instance.name();
            let is_preferred = in_force.spelled(T::PATTERN, name) == name;
            match self.0.by_key.entry(in_force.key(T::PATTERN, name)) {
                Entry::Occupied(mut first) if is_preferred => {
                    displaced.push(first.insert(slot).instance);
                }
                Entry::Occupied(_) => displaced.push(slot.instance),
                Entry::Vacant(place) => {
                    place.insert(slot);
                }
            }
        }
        displaced
    }
}
