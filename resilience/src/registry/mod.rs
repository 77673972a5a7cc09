//! Instances by name.
//!
//! Annotated functions find their instances here: in the process registry, or in the registry whose
//! [`scope`](Resilience::scope) they run in. An instance keeps its identity for as long as it is not
//! removed; every look-up of a name, in any spelling, gives a handle to the same one.

mod budgets;
mod call_site;
mod check;
mod global;
mod instances;
mod scope;

use std::{
    collections::HashSet,
    fmt,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use parking_lot::{Mutex, RwLock};
use resilience_settings::{Pattern, Value, canonical, check_name};

use self::{
    budgets::Budgets,
    call_site::{SiteCache, annotated},
    check::Warning,
    instances::{Instances, Managed},
};
use crate::{
    Bulkhead, CircuitBreaker, RateLimiter, Retry, ThreadPoolBulkhead, TimeLimiter,
    clock::Clock,
    config::{Config, ConfigError, Inline, Origin, Settings, instance_path},
};

pub use global::{global, init, init_for};

#[doc(hidden)]
pub use call_site::{CallSite, InlineValue, LayerSpec, RegisteredSite, SiteSpec};

#[cfg(feature = "tower")]
pub(crate) use scope::present;
pub(crate) use scope::{in_present_scope, in_present_scope_sync};

/// How many warnings a registry keeps.
const MAX_WARNINGS: usize = 1000;

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

struct Inner {
    clock: Clock,
    config: RwLock<Arc<Config>>,
    circuit_breakers: Instances<CircuitBreaker>,
    retries: Instances<Retry>,
    budgets: Budgets,
    rate_limiters: Instances<RateLimiter>,
    time_limiters: Instances<TimeLimiter>,
    bulkheads: Instances<Bulkhead>,
    thread_pools: Instances<ThreadPoolBulkhead>,
    /// Grows with every removal; what call sites have found before is then looked up again.
    epoch: AtomicU64,
    site_cache: RwLock<SiteCache>,
    warnings: Mutex<Vec<String>>,
    warned: Mutex<HashSet<(Pattern, String)>>,
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
        let registry = Self::on(clock);
        registry.inner.adopt(config);
        for warning in warnings {
            registry.inner.warn(warning);
        }
        Ok(registry)
    }

    fn empty() -> Self {
        Self::on(Clock::system())
    }

    fn on(clock: Clock) -> Self {
        Self {
            inner: Arc::new(Inner {
                clock,
                config: RwLock::default(),
                circuit_breakers: Instances::default(),
                retries: Instances::default(),
                budgets: Budgets::default(),
                rate_limiters: Instances::default(),
                time_limiters: Instances::default(),
                bulkheads: Instances::default(),
                thread_pools: Instances::default(),
                epoch: AtomicU64::new(0),
                site_cache: RwLock::default(),
                warnings: Mutex::default(),
                warned: Mutex::default(),
            }),
        }
    }

    /// Removes the instances of this name, of every pattern; tells whether there was one.
    ///
    /// Calls in flight finish on the removed instances, and so do handles that were kept; their
    /// listeners, streams and kept events are gone. The next use of the name makes a new instance.
    /// From the first removal on, annotated functions look their instances up in a shared map.
    pub fn remove(&self, name: &str) -> bool {
        let inner = &*self.inner;
        let removed = [
            inner.remove(&inner.circuit_breakers, name),
            inner.remove(&inner.retries, name),
            inner.remove(&inner.rate_limiters, name),
            inner.remove(&inner.time_limiters, name),
            inner.remove(&inner.bulkheads, name),
            inner.remove(&inner.thread_pools, name),
        ];
        let any = removed.contains(&true);
        if any {
            inner.epoch.fetch_add(1, Ordering::AcqRel);
        }
        any
    }

    /// The configuration that is in force.
    pub fn config(&self) -> Arc<Config> {
        Arc::clone(&self.inner.config.read())
    }

    /// Every setting of every instance and retry budget that is declared or in use: its key path, its value and where
    /// it came from, the attributes' inline settings included.
    pub fn effective_config(&self) -> Vec<(String, Value, Origin)> {
        let config = self.config();
        let mut effective = Vec::new();
        for pattern in Pattern::ALL {
            for name in self.inner.names(pattern, &config) {
                let Ok(settings) = resolve(&config, pattern, &name) else { continue };
                effective.extend(settings.under(&instance_path(pattern, &name)));
            }
        }
        for budget in self.inner.budget_names() {
            effective.extend(config.effective_budget(&budget));
        }
        effective
    }

    /// What was found questionable so far: at start, and when a name was used that nobody declares.
    pub fn warnings(&self) -> Vec<String> {
        self.inner.warnings.lock().clone()
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
                    self.inner.instance(&self.inner.$field, name)
                }

                #[doc = concat!("The ", $noun, " of this name, if there is one.")]
                pub fn $find(&self, name: &str) -> Option<$instance> {
                    self.inner.find(&self.inner.$field, name)
                }

                #[doc = concat!("Every ", $noun, ", sorted by name.")]
                pub fn $all(&self) -> Vec<$instance> {
                    self.inner.$field.all()
                }
            )*
        }
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
        let mut names = match pattern {
            Pattern::CircuitBreaker => of(&self.circuit_breakers),
            Pattern::Retry => of(&self.retries),
            Pattern::RateLimiter => of(&self.rate_limiters),
            Pattern::TimeLimiter => of(&self.time_limiters),
            Pattern::Bulkhead => of(&self.bulkheads),
            Pattern::ThreadPoolBulkhead => of(&self.thread_pools),
        };
        // Declared, but removed by hand since.
        let known: HashSet<String> = names.iter().map(|name| canonical(name)).collect();
        let removed = config.instances(pattern).filter(|name| !known.contains(&canonical(name)));
        names.extend(removed.map(str::to_owned));
        names
    }

    /// What an instance is found by. A name that the configuration or an attribute knows is found in
    /// any spelling; another one, such as an address that a program looks up, only in its own, so
    /// that `10.1.1.12` and `10.1.11.2` stay apart.
    fn key(&self, pattern: Pattern, name: &str) -> String {
        let known =
            self.config.read().declares(pattern, name) || annotated(pattern, name).is_some();
        if known { canonical(name) } else { format!("={name}") }
    }

    fn find<T: Managed>(&self, instances: &Instances<T>, name: &str) -> Option<T> {
        instances.find(&self.key(T::PATTERN, name))
    }

    fn remove<T: Managed>(&self, instances: &Instances<T>, name: &str) -> bool {
        instances.remove(&self.key(T::PATTERN, name))
    }

    fn instance<T: Managed>(&self, instances: &Instances<T>, name: &str) -> T {
        instances.get_or_create(self.key(T::PATTERN, name), || {
            if let Err(error) = check_name(name) {
                panic!("{error}: {name:?}");
            }
            // The spelling that people know: the configuration's, else an attribute's.
            let config = Arc::clone(&self.config.read());
            let spelled = config
                .declared_name(T::PATTERN, name)
                .or_else(|| Some(annotated(T::PATTERN, name)?.name))
                .unwrap_or(name);
            if annotated(T::PATTERN, name).is_none()
                && let Some(warning) = check::looked_up(&config, T::PATTERN, name)
            {
                self.warn(warning);
            }
            T::with_clock(spelled.into(), self.settings_of::<T>(name), self.clock.clone())
        })
    }

    /// The configuration of an instance. What is wrong here came past `init`: it is reported, and
    /// the instance works on its built-in defaults rather than taking the caller down.
    fn settings_of<T: Managed>(&self, name: &str) -> T::Config {
        let config = Arc::clone(&self.config.read());
        let read = resolve(&config, T::PATTERN, name)
            .map(|settings| settings.with_budget(|budget| self.budget(budget)))
            .and_then(|settings| T::from_settings(&settings).map_err(ConfigError::new));
        read.unwrap_or_else(|error| {
            self.warn(format!("{} '{name}' works on its defaults: {error}", T::PATTERN));
            T::Config::default()
        })
    }

    /// Takes a checked configuration: makes what it declares, and reconfigures what is there.
    fn adopt(&self, config: Config) {
        let config = Arc::new(config);
        *self.config.write() = Arc::clone(&config);
        self.adopt_budgets(&config);
        self.adopt_instances(&self.circuit_breakers);
        self.adopt_instances(&self.retries);
        self.adopt_instances(&self.rate_limiters);
        self.adopt_instances(&self.time_limiters);
        self.adopt_instances(&self.bulkheads);
        self.adopt_instances(&self.thread_pools);
    }

    fn adopt_instances<T: Managed>(&self, instances: &Instances<T>) {
        instances.rekey(|name| self.key(T::PATTERN, name));
        for instance in instances.all() {
            instance.reconfigure(self.settings_of::<T>(instance.name()));
        }
        let config = Arc::clone(&self.config.read());
        for name in config.instances(T::PATTERN) {
            self.instance(instances, name);
        }
    }

    fn warn(&self, warning: impl Into<Warning>) {
        let Warning { text, once } = warning.into();
        if once.is_some_and(|instance| !self.warned.lock().insert(instance)) {
            return;
        }
        let mut warnings = self.warnings.lock();
        // Names may be made up at run time, by the thousand.
        if warnings.len() == MAX_WARNINGS {
            return;
        }
        warnings.push(text.clone());
        drop(warnings);
        #[cfg(feature = "tracing")]
        tracing::warn!(target: "resilience", "{text}");
    }

    /// Says once per name that a function uses an instance that the configuration does not declare.
    /// Without any configuration, or with inline settings, there is nothing to declare it in.
    fn warn_if_undeclared(&self, site: &SiteSpec, layer: &LayerSpec) {
        let config = Arc::clone(&self.config.read());
        if let Some(warning) = check::undeclared(&config, site, layer) {
            self.warn(warning);
        }
    }
}

/// The settings of an instance: the configuration's, over what an attribute says inline.
fn resolve(config: &Config, pattern: Pattern, name: &str) -> Result<Settings, ConfigError> {
    let inline = annotated(pattern, name)
        .and_then(|annotated| annotated.inline)
        .map_or_else(Inline::default, |(site, layer)| layer.to_inline(site));
    config.resolve(pattern, name, &inline)
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
