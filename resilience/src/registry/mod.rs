//! Instances by name.
//!
//! Annotated functions find their instances here: in the process registry, or in the registry whose
//! [`scope`](Resilience::scope) they run in. An instance keeps its identity for as long as it is not
//! removed; every look-up of a name, in any spelling, gives a handle to the same one.
//!
//! [`Resilience`] is the registry; [`init`] fills that of the process. What a change of its
//! configuration comes to is a [`Reload`]; its own events and metrics are here too.

mod all_instances;
mod application;
mod budgets;
pub(crate) mod call_site;
mod capture;
mod change;
mod check;
mod event;
mod global;
mod in_force;
mod instances;
#[cfg(feature = "actuator")]
mod kept;
#[cfg(feature = "tracing")]
mod log;
#[cfg(not(feature = "tracing"))]
#[path = "log_off.rs"]
mod log;
mod metrics;
mod reload;
mod scope;
mod store;
mod switch;
mod warnings;
#[cfg(feature = "watch")]
mod watch;

use std::{
    collections::HashSet,
    fmt,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU64, Ordering},
    },
};

use resilience_settings::{Pattern, Value, canonical, check_name};

use self::{
    all_instances::{AllInstances, each, of_pattern},
    budgets::Budgets,
    call_site::{LayerSpec, SiteCache, SiteSpec, annotated},
    capture::Capture,
    check::Strict,
    in_force::InForce,
    instances::{By, Instances},
    warnings::Warnings,
};
use crate::{
    Bulkhead, CircuitBreaker, RateLimiter, Retry, ThreadPoolBulkhead, TimeLimiter,
    backing::Backing,
    clock::Clock,
    config::{Config, ConfigError, Inline, Origin, Report, Settings, Severity, instance_path},
    events::Events,
    sync::plain::{Mutex, RwLock},
};

pub use change::{Change, Reload};
pub use event::{RegistryEvent, RegistryEventKind};
pub use global::{global, init, init_for};
pub use metrics::RegistryMetrics;
#[cfg(feature = "watch")]
pub use watch::Watcher;

pub(crate) use instances::Managed;
#[cfg(feature = "actuator")]
pub(crate) use kept::Kept;
pub(crate) use scope::{in_present_scope, in_present_scope_sync};

/// How many of its events a registry keeps.
const RECENT_EVENTS: usize = 100;

/// A registry of instances; a cheap handle.
///
/// # Examples
///
/// ```
/// use resilience::{Config, Resilience, config::Format};
///
/// let text = "
/// circuitbreaker:
///   instances:
///     paymentCb: { failure_rate_threshold: 20 }
/// ";
/// let registry = Resilience::from_config(Config::from_str(text, Format::Yaml)?)?;
/// let breaker = registry.circuit_breaker("payment-cb"); // any spelling of the name
/// assert_eq!(breaker.config().failure_rate_threshold(), 20.0);
/// # Ok::<(), resilience::ConfigError>(())
/// ```
#[derive(Clone)]
pub struct Resilience {
    inner: Arc<Inner>,
}

/// A registry that is there for as long as somebody else has a handle to it.
#[cfg(feature = "metrics")]
pub(crate) struct WeakResilience(std::sync::Weak<Inner>);

#[cfg(feature = "metrics")]
impl WeakResilience {
    pub(crate) fn upgrade(&self) -> Option<Resilience> {
        Some(Resilience { inner: self.0.upgrade()? })
    }
}

struct Inner {
    clock: Clock,
    in_force: RwLock<Arc<InForce>>,
    /// Makes changes of what is in force come one after the other. No code of others runs under it.
    changing: Mutex<()>,
    /// Makes those who read sources of configurations put them in force in the order of their
    /// reading. It is taken before `changing`.
    loading: Mutex<()>,
    /// How strictly `init` has checked the program; there is no such thing but in the process registry.
    program: Option<OnceLock<Strict>>,
    instances: AllInstances,
    budgets: Budgets,
    /// What the instances share with other processes.
    backing: Backing,
    /// Grows with every removal; what call sites have found before is then looked up again.
    epoch: AtomicU64,
    site_cache: RwLock<SiteCache>,
    warnings: Warnings,
    capture: Capture,
    events: Events<RegistryEvent>,
    metrics: Mutex<RegistryMetrics>,
}

impl Resilience {
    /// Makes a registry of its own, with every declared instance.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with the configuration, at once.
    pub fn from_config(config: Config) -> Result<Self, ConfigError> {
        Self::with_clock(config, Clock::system())
    }

    /// Makes a registry of its own whose instances take their time from `clock`.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with the configuration, at once.
    pub fn with_clock(config: Config, clock: Clock) -> Result<Self, ConfigError> {
        let warnings = check::of_config(&config)?;
        let registry = Self::empty(clock, None);
        let opened = registry.inner.open_store(&config)?;
        registry.inner.fill(config, warnings, opened);
        Ok(registry)
    }

    /// Makes a registry for a configuration of another program, whose error kinds are not known here.
    #[cfg(feature = "cli")]
    pub(crate) fn of_another_program(config: Config, clock: Clock) -> Self {
        let registry = Self::empty(clock, None);
        registry.inner.fill(config, Vec::new(), None);
        registry
    }

    fn of_process() -> Self {
        Self::empty(Clock::system(), Some(OnceLock::new()))
    }

    fn empty(clock: Clock, program: Option<OnceLock<Strict>>) -> Self {
        Self {
            inner: Arc::new(Inner {
                clock,
                in_force: RwLock::default(),
                changing: Mutex::default(),
                loading: Mutex::default(),
                program,
                instances: AllInstances::default(),
                budgets: Budgets::default(),
                backing: Backing::default(),
                epoch: AtomicU64::new(0),
                site_cache: RwLock::default(),
                warnings: Warnings::default(),
                capture: Capture::default(),
                events: Events::new(RECENT_EVENTS),
                metrics: Mutex::default(),
            }),
        }
    }

    #[cfg(feature = "metrics")]
    pub(crate) fn downgrade(&self) -> WeakResilience {
        WeakResilience(Arc::downgrade(&self.inner))
    }

    /// Removes the instances of this name, of every pattern; tells whether there was one.
    ///
    /// Calls in flight finish on the removed instances, and so do handles that were kept; their
    /// listeners, streams and kept events are gone. The next use of the name makes a new instance.
    /// From the first removal on, annotated functions look their instances up in a shared map.
    pub fn remove(&self, name: &str) -> bool {
        let inner = &*self.inner;
        let removed = each!(inner.instances, |instances| inner.remove(instances, name));
        let any = removed.contains(&true);
        if any {
            inner.epoch.fetch_add(1, Ordering::AcqRel);
            inner.events.deliver();
        }
        any
    }

    /// The events of the registry: `ENTRY_ADDED` and `ENTRY_REMOVED` for each instance, `RELOADED` and
    /// `RELOAD_FAILED`. Those of an instance are its own.
    ///
    /// # Examples
    ///
    /// ```
    /// use resilience::{Config, Resilience};
    ///
    /// let registry = Resilience::from_config(Config::default())?;
    /// registry.retry("payment");
    /// registry.reload(Config::default())?;
    /// let types: Vec<_> = registry.events().recent().iter().map(|e| e.type_name).collect();
    /// assert_eq!(types, ["ENTRY_ADDED", "RELOADED"]);
    /// # Ok::<(), resilience::ConfigError>(())
    /// ```
    pub fn events(&self) -> Events<RegistryEvent> {
        self.inner.events.clone()
    }

    /// Tells how reloads ended so far.
    pub fn metrics(&self) -> RegistryMetrics {
        self.inner.metrics.lock().clone()
    }

    /// The configuration that is in force, with what [`set_enabled`](Resilience::set_enabled) has said.
    pub fn config(&self) -> Arc<Config> {
        Arc::clone(&self.inner.in_force.read().config)
    }

    #[cfg(feature = "actuator")]
    pub(crate) fn clock(&self) -> &Clock {
        &self.inner.clock
    }

    /// Every setting of every instance and retry budget that is declared or in use, and of the store: its
    /// key path, its value and where it came from, the attributes' inline settings included.
    ///
    /// What was set by hand on an instance comes from [`Origin::Code`], as does what
    /// [`set_enabled`](Resilience::set_enabled) has said of a pattern. What was set on the instance of
    /// a [key](crate::keyed) alone is not told.
    pub fn effective_config(&self) -> Vec<(String, Value, Origin)> {
        // Between the steps of a change, what is not changed yet would look as if set by hand.
        let _changing = self.inner.changing.lock();
        let config = self.config();
        let mut effective = Vec::new();
        for &pattern in Pattern::ALL {
            for name in self.inner.names(pattern, &config) {
                let Ok(mut settings) = resolve(&config, pattern, &name) else { continue };
                for (key, value) in self.inner.changeable(pattern, &name) {
                    settings.take_in_force(key, value);
                }
                effective.extend(settings.under(&instance_path(pattern, &name)));
            }
        }
        for budget in self.inner.budget_names() {
            effective.extend(config.loaded().effective_budget(&budget));
        }
        effective.extend(config.loaded().effective_store());
        effective
    }

    /// What was found questionable: in the configuration that is in force, and so far when a name was
    /// used that nobody declares.
    ///
    /// A warning of an instance that no annotated function uses goes once the program has looked the
    /// instance up by its name, as for a [stack](Resilience::stack) or a layer.
    /// Hints are left out; the [report](Resilience::report) has them too.
    pub fn warnings(&self) -> Vec<String> {
        let report = self.report();
        let warnings = report.findings().iter().filter(|found| found.severity != Severity::Hint);
        warnings.map(ToString::to_string).collect()
    }

    /// The same as findings, each with its code, place and remedy, and with the hints.
    ///
    /// # Examples
    ///
    /// ```
    /// use resilience::{Config, Resilience, config::Format};
    ///
    /// let text = "
    /// circuitbreaker.instances.pay.slow_call_duration_threshold: 5s
    /// timelimiter.instances.pay.timeout_duration: 2s";
    /// let registry = Resilience::from_config(Config::from_str(text, Format::Yaml)?)?;
    /// assert_eq!(registry.report().findings()[0].code, "slow_above_limit");
    /// # Ok::<(), resilience::ConfigError>(())
    /// ```
    pub fn report(&self) -> Report {
        let in_force = self.inner.in_force();
        self.inner.warnings.all(|until| self.inner.is_settled(until, &in_force))
    }
}

macro_rules! accessors {
    ($($get:ident, $find:ident, $all:ident, $field:ident: $instance:ident, $noun:literal;)*) => {
        impl Resilience {
            $(
                #[doc = concat!("The ", $noun, " of this name, made from the configuration when it is not there yet.")]
                ///
                /// # Panics
                ///
                /// When the name is empty, longer than 200 characters, has control characters or nothing
                /// but separators (`-`, `_`, `.`, space).
                pub fn $get(&self, name: &str) -> $instance {
                    self.inner.instance(&self.inner.instances.$field, name)
                }

                #[doc = concat!("The ", $noun, " of this name, if there is one.")]
                pub fn $find(&self, name: &str) -> Option<$instance> {
                    self.inner.find(&self.inner.instances.$field, name)
                }

                #[doc = concat!("Every ", $noun, ", sorted by name.")]
                pub fn $all(&self) -> Vec<$instance> {
                    self.inner.instances.$field.all()
                }
            )*
        }

        $(
            #[cfg(feature = "actuator")]
            impl Kept for $instance {
                fn all_in(registry: &Resilience) -> Vec<Self> {
                    registry.$all()
                }

                fn find_in(registry: &Resilience, name: &str) -> Option<Self> {
                    let instances = &registry.inner.instances.$field;
                    registry.inner.with_key(Self::PATTERN, name, |key| instances.find(key))
                }
            }
        )*
    };
}

accessors! {
    circuit_breaker, find_circuit_breaker, circuit_breakers, circuit_breakers: CircuitBreaker, "circuit breaker";
    retry, find_retry, retries, retries: Retry, "retry";
    rate_limiter, find_rate_limiter, rate_limiters, rate_limiters: RateLimiter, "rate limiter";
    time_limiter, find_time_limiter, time_limiters, time_limiters: TimeLimiter, "time limiter";
    bulkhead, find_bulkhead, bulkheads, bulkheads: Bulkhead, "bulkhead";
    thread_pool_bulkhead, find_thread_pool_bulkhead, thread_pool_bulkheads, thread_pools: ThreadPoolBulkhead, "thread-pool bulkhead";
}

impl Inner {
    /// The names of a pattern's instances: those in use, which includes every declared one, in
    /// the order of their names.
    fn names(&self, pattern: Pattern, config: &Config) -> Vec<String> {
        fn of<T: Managed>(instances: &Instances<T>) -> Vec<String> {
            instances.all().iter().map(|instance| instance.name().to_owned()).collect()
        }
        let mut names = of_pattern!(pattern, self.instances, |instances| of(instances));
        // Declared, but removed by hand since.
        let known: HashSet<String> = names.iter().map(|name| canonical(name)).collect();
        let removed = config.instances(pattern).filter(|name| !known.contains(&canonical(name)));
        names.extend(removed.map(str::to_owned));
        names
    }

    /// What the instance of this name works by, of what can be changed by hand.
    fn changeable(&self, pattern: Pattern, name: &str) -> Vec<(&'static str, Value)> {
        let key = self.in_force().key(pattern, name);
        of_pattern!(pattern, self.instances, |instances| instances
            .find(&key)
            .map(|instance| instance.changeable())
            .unwrap_or_default())
    }

    fn in_force(&self) -> Arc<InForce> {
        Arc::clone(&self.in_force.read())
    }

    fn is_in_force(&self, in_force: &Arc<InForce>) -> bool {
        Arc::ptr_eq(&self.in_force.read(), in_force)
    }

    fn find<T: Managed>(&self, instances: &Instances<T>, name: &str) -> Option<T> {
        self.with_key(T::PATTERN, name, |key| instances.look_up(key))
    }

    fn remove<T: Managed>(&self, instances: &Instances<T>, name: &str) -> bool {
        let take = |key: &str| instances.take(key, |instance| self.note_removed(instance));
        // Retired without a lock: what the instance owns may use the registry when it is dropped.
        self.with_key(T::PATTERN, name, take).inspect(T::retire).is_some()
    }

    /// Looks for a key, again if a reload may have changed it before it was looked for.
    fn with_key<R>(
        &self,
        pattern: Pattern,
        name: &str,
        look: impl Fn(&str) -> Option<R>,
    ) -> Option<R> {
        loop {
            let in_force = self.in_force();
            let found = look(&in_force.key(pattern, name));
            if found.is_some() || self.is_in_force(&in_force) {
                return found;
            }
        }
    }

    fn instance<T: Managed>(&self, instances: &Instances<T>, name: &str) -> T {
        let (instance, is_new) = self.find_or_make(instances, name, By::Program);
        if is_new {
            self.events.deliver();
        }
        instance
    }

    /// The instance of this name, and whether it is new: then its event is to be delivered.
    ///
    /// What is logged on the way may run a subscriber's code: it runs outside of the lock. Of several
    /// instances that a race makes, the first one put in is everybody's.
    fn find_or_make<T: Managed>(&self, instances: &Instances<T>, name: &str, by: By) -> (T, bool) {
        if by == By::Program
            && let Some(found) = instances.look_up_again(name)
        {
            return (found, false);
        }
        loop {
            let in_force = self.in_force();
            let key = in_force.key(T::PATTERN, name);
            let found = match by {
                By::Program => instances.look_up(&key),
                By::Registry => instances.find(&key),
            };
            if let Some(found) = found {
                if by == By::Program {
                    instances.remember(name, key, || !self.is_in_force(&in_force));
                }
                return (found, false);
            }
            let made = self.make(&in_force, name);
            // One that was made by what is not in force any more would stay on it.
            let is_stale = || !self.is_in_force(&in_force);
            let added = || {
                self.capture.apply(&made);
                self.note_added(&made);
            };
            if let Some(put_in) = instances.insert(key, &made, by, is_stale, added) {
                return put_in;
            }
        }
    }

    fn make<T: Managed>(&self, in_force: &InForce, name: &str) -> T {
        if let Err(error) = check_name(name) {
            panic!("{error}: {name:?}");
        }
        if annotated(T::PATTERN, name).is_none()
            && let Some(warning) = check::looked_up(&in_force.config, T::PATTERN, name)
        {
            self.warnings.add(warning);
        }
        // What is wrong here came past `init`: it is reported, and the instance works on its built-in
        // defaults rather than taking the caller down.
        let (config, warnings) = match in_force.read::<T>(name) {
            Ok(settings) => {
                if let Some(warning) = self.without_store(&settings, name) {
                    self.warnings.add(warning);
                }
                self.config_of::<T>(&settings)
            }
            Err(error) => {
                let warning = format!("{} '{name}' works on its defaults: {error}", T::PATTERN);
                (T::Config::default(), vec![warning])
            }
        };
        for warning in warnings {
            self.warnings.add(warning);
        }
        let name = in_force.spelled(T::PATTERN, name).into();
        T::backed(name, config, self.clock.clone(), &self.backing)
    }

    /// Queues an event. Call it under the lock that ordered the event; who holds none delivers it.
    fn note(&self, kind: RegistryEventKind) {
        self.events.push(RegistryEvent { at: self.clock.now(), kind });
    }

    fn note_added<T: Managed>(&self, instance: &T) {
        self.note(RegistryEventKind::EntryAdded {
            pattern: T::PATTERN,
            name: instance.name().into(),
        });
    }

    fn note_removed<T: Managed>(&self, instance: &T) {
        self.note(RegistryEventKind::EntryRemoved {
            pattern: T::PATTERN,
            name: instance.name().into(),
        });
    }

    /// Says once per name that a function uses an instance that the configuration does not declare.
    /// Without any configuration, or with inline settings, there is nothing to declare it in.
    fn warn_if_undeclared(&self, site: &SiteSpec, layer: &LayerSpec) {
        if let Some(warning) = check::undeclared(&self.in_force().config, site, layer) {
            self.warnings.add(warning);
        }
    }
}

/// The settings of an instance: the configuration's, over what an attribute says inline.
fn resolve(config: &Config, pattern: Pattern, name: &str) -> Result<Settings, ConfigError> {
    let inline = annotated(pattern, name)
        .and_then(|annotated| annotated.inline)
        .map_or_else(Inline::default, |(site, layer)| layer.to_inline(site));
    config.loaded().resolve(pattern, name, &inline)
}

impl fmt::Debug for Resilience {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Resilience")
            .field("circuit_breakers", &self.circuit_breakers().len())
            .field("retries", &self.retries().len())
            .field("rate_limiters", &self.rate_limiters().len())
            .field("time_limiters", &self.time_limiters().len())
            .field("bulkheads", &self.bulkheads().len())
            .field("thread_pool_bulkheads", &self.thread_pool_bulkheads().len())
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Inner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registry").finish_non_exhaustive()
    }
}
