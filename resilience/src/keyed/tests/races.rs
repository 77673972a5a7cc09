//! Changes of the settings at the worst of all moments: while an instance is made, or brought others.

use std::sync::{Arc, OnceLock};

use resilience_settings::{Pattern, Value};

use super::super::{Counted, KeySettings, Keys, Member, instance_of};
use crate::{
    BulkheadConfig, Clock,
    aftermath::Aftermath,
    config::{Problem, Settings},
    registry::Managed,
    sync::Mutex,
};

type Interruption = Box<dyn FnOnce(&Probe) + Send>;

/// Has settings and keys, and lets a test come in between.
#[derive(Clone)]
struct Probe {
    shared: Arc<Shared>,
}

struct Shared {
    config: Mutex<Arc<BulkheadConfig>>,
    clock: Clock,
    keys: Keys<Probe>,
    key: Option<Arc<str>>,
    parent: OnceLock<Probe>,
    /// Runs once the parent's settings have been read.
    once_read: Mutex<Option<Interruption>>,
    /// Runs, with the parent, when an instance has been made and nobody has it yet.
    once_made: Mutex<Option<Interruption>>,
    /// Runs, with the parent, before the settings of an instance become others.
    before_adoption: Mutex<Option<Interruption>>,
}

fn interrupt(place: &Mutex<Option<Interruption>>, parent: &Probe) {
    let interruption = place.lock().take();
    if let Some(interruption) = interruption {
        interruption(parent);
    }
}

impl Probe {
    fn make(
        config: Arc<BulkheadConfig>,
        clock: Clock,
        keys: Keys<Self>,
        key: Option<Arc<str>>,
    ) -> Self {
        let shared = Shared {
            config: Mutex::new(config),
            clock,
            keys,
            key,
            parent: OnceLock::new(),
            once_read: Mutex::new(None),
            once_made: Mutex::new(None),
            before_adoption: Mutex::new(None),
        };
        Self { shared: Arc::new(shared) }
    }

    fn limit(&self) -> u32 {
        self.config().max_concurrent_calls()
    }

    fn keyed(&self, key: &str) -> Self {
        instance_of(self, &key)
    }
}

impl Managed for Probe {
    const PATTERN: Pattern = Pattern::Bulkhead;
    type Config = BulkheadConfig;

    fn from_settings(settings: &Settings) -> Result<BulkheadConfig, Vec<Problem>> {
        BulkheadConfig::from_settings(settings)
    }

    fn with_clock(_: Arc<str>, config: BulkheadConfig, clock: Clock) -> Self {
        Self::make(Arc::new(config), clock, Keys::none_yet(), None)
    }

    fn reconfigure(&self, config: BulkheadConfig) -> Aftermath {
        *self.shared.config.lock() = Arc::new(config);
        self.shared.keys.follow_after(self, Aftermath::default())
    }

    fn changeable(&self) -> Vec<(&'static str, Value)> {
        Vec::new()
    }

    fn enable(&self, _: bool) -> Aftermath {
        Aftermath::default()
    }

    fn capture(&self, _: bool) {}

    fn name(&self) -> &'static str {
        "probe"
    }

    fn retire(&self) {}
}

impl Counted for Probe {
    type Counts = [u64; 0];

    fn counts(&self) -> [u64; 0] {
        []
    }
}

impl Member for Probe {
    fn own_key(&self) -> Option<&str> {
        self.shared.key.as_deref()
    }

    fn config(&self) -> Arc<BulkheadConfig> {
        let config = Arc::clone(&self.shared.config.lock());
        interrupt(&self.shared.once_read, self);
        config
    }

    fn clock(&self) -> &Clock {
        &self.shared.clock
    }

    fn keys(&self) -> &Keys<Self> {
        &self.shared.keys
    }

    fn key_settings(config: &BulkheadConfig) -> &KeySettings {
        &config.keyed
    }

    fn member(&self, config: Arc<BulkheadConfig>, key: Option<Arc<str>>) -> Self {
        let member = Self::make(config, self.shared.clock.clone(), Keys::Member, key);
        member.shared.parent.get_or_init(|| self.clone());
        interrupt(&self.shared.once_made, self);
        member
    }

    fn adopt(&self, config: Arc<BulkheadConfig>) {
        if let Some(parent) = self.shared.parent.get() {
            interrupt(&parent.shared.before_adoption, parent);
        }
        *self.shared.config.lock() = config;
    }

    fn handles(&self) -> usize {
        Arc::strong_count(&self.shared)
    }

    fn is_at_rest(&self, _: u64) -> bool {
        true
    }
}

fn limit(calls: u32) -> BulkheadConfig {
    BulkheadConfig::builder().max_concurrent_calls(calls).max_keys(1).build().unwrap()
}

fn parent() -> Probe {
    Probe::with_clock("probe".into(), limit(1), Clock::system())
}

#[test]
fn settings_that_change_while_an_instance_is_made_are_its_settings() {
    let parent = parent();
    *parent.shared.once_made.lock() = Some(Box::new(|parent| drop(parent.reconfigure(limit(2)))));
    assert_eq!((parent.keyed("own").limit(), parent.keyed("own").own_key()), (2, Some("own")));
    *parent.shared.once_made.lock() = Some(Box::new(|parent| drop(parent.reconfigure(limit(3)))));
    assert_eq!((parent.keyed("shared").limit(), parent.keyed("shared").own_key()), (3, None));
    assert_eq!(parent.keyed("own").limit(), 3);
}

#[test]
fn settings_that_change_before_the_first_key_is_known_are_its_settings() {
    let parent = parent();
    *parent.shared.once_read.lock() = Some(Box::new(|parent| drop(parent.reconfigure(limit(2)))));
    assert_eq!(parent.keyed("own").limit(), 2);
    assert_eq!(parent.keyed("shared").limit(), 2);
}

#[test]
fn of_two_changes_at_once_the_last_one_stays() {
    let parent = parent();
    let (own, shared) = (parent.keyed("own"), parent.keyed("shared"));
    // Comes second, and has reached everybody before the first one does.
    *parent.shared.before_adoption.lock() =
        Some(Box::new(|parent| drop(parent.reconfigure(limit(3)))));
    drop(parent.reconfigure(limit(2)));
    assert_eq!([parent.limit(), own.limit(), shared.limit()], [3, 3, 3]);
}

#[test]
fn a_key_that_another_caller_is_the_first_with_has_one_instance() {
    let parent = parent();
    let first = Arc::new(Mutex::new(None));
    *parent.shared.once_made.lock() = Some(Box::new({
        let first = Arc::clone(&first);
        move |parent| *first.lock() = Some(parent.keyed("own"))
    }));
    let second = parent.keyed("own");
    let first = first.lock().take().expect("was made in between");
    assert!(Arc::ptr_eq(&first.shared, &second.shared));
    assert_eq!((parent.shared.keys.metrics().live, parent.shared.keys.metrics().created), (1, 1));
}
