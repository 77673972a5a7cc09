//! Another configuration for a registry that is in use.

use std::sync::Arc;

use resilience_settings::Pattern;

use super::{
    Change, Inner, RegistryEventKind, Reload, Resilience,
    check::{self, Strict, Warning},
    in_force::InForce,
    instances::{Instances, Managed},
    warnings,
};
use crate::{
    aftermath::Aftermath,
    config::{Config, ConfigBuilder, ConfigError, Problem, instance_path},
    events::{MAX_EVENT_TEXT, bounded},
};

/// What came of a change of the configuration, to be told once no lock is held.
#[derive(Default)]
struct Adopted {
    changes: Vec<Change>,
    new_warnings: Vec<String>,
    aftermath: Vec<Aftermath>,
}

/// Changes of what is in force.
impl Resilience {
    /// Puts another configuration in force, all of it or, if anything is wrong with it, nothing.
    ///
    /// It is checked like the one at the start: the process registry's against every annotated
    /// function and with the strictness of [`init`](crate::init), another one's by itself. Then every
    /// instance whose settings have other values goes on with those, in place:
    ///
    /// - A circuit breaker keeps its state, the time that it still stays open and, where the type and
    ///   size of the window stay, what the window holds.
    /// - Permits that were granted stay granted. A smaller bulkhead or limit takes effect as they
    ///   come back; a larger one lets in those that wait.
    /// - Calls on their way, counters and listeners stay.
    /// - An instance that is declared no more goes on with the defaults; one that is declared for
    ///   the first time is made.
    ///
    /// What was changed by hand ([`change_limit_for_period`], [`change_max_concurrent_calls`],
    /// `set_enabled` of an instance) stays as long as the configuration says the same of that
    /// instance as before; else the configuration goes before it, as a whole.
    /// [`set_enabled`](Resilience::set_enabled) of a pattern outlives every reload.
    ///
    /// Reloads run one after the other, on the threads of their callers. An instance that is made
    /// meanwhile has the configuration of the last. The outcome is told as
    /// [event](Resilience::events), in the [`metrics`](Resilience::metrics) and, with the feature
    /// `tracing`, in the log, change by change.
    ///
    /// [`change_limit_for_period`]: crate::RateLimiter::change_limit_for_period
    /// [`change_max_concurrent_calls`]: crate::Bulkhead::change_max_concurrent_calls
    ///
    /// # Errors
    ///
    /// Everything that is wrong, at once. Also when the process registry was not filled by `init`
    /// before.
    ///
    /// # Examples
    ///
    /// ```
    /// use resilience::{Config, Resilience, config::Format};
    ///
    /// let config = |yaml| Config::from_str(yaml, Format::Yaml);
    /// let registry = Resilience::from_config(config(
    ///     "bulkhead.instances.stock.max_concurrent_calls: 1",
    /// )?)?;
    /// let stock = registry.bulkhead("stock");
    /// let permit = stock.try_acquire().unwrap();
    ///
    /// registry.reload(config("bulkhead.instances.stock.max_concurrent_calls: 3")?)?;
    /// assert_eq!(stock.available_concurrent_calls(), 2);
    ///
    /// assert!(registry.reload(config("strict: true\nretry.instances.a.retry_errors: [typo]")?).is_err());
    /// assert!(!registry.metrics().config_last_reload_successful);
    /// assert_eq!(stock.max_concurrent_calls(), 3);
    /// # Ok::<(), resilience::ConfigError>(())
    /// ```
    pub fn reload(&self, config: Config) -> Result<Reload, ConfigError> {
        self.inner.reload(|| Ok(config))
    }

    /// Reads the sources of `loader` anew and puts in force what they say, as
    /// [`reload`](Resilience::reload) does.
    ///
    /// It reads files on the calling thread.
    ///
    /// # Errors
    ///
    /// As [`reload`](Resilience::reload), and everything that keeps the sources from being read.
    /// That too is told as a failed reload.
    ///
    /// # Examples
    ///
    /// ```
    /// use resilience::{Config, Resilience};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let folder = std::env::temp_dir();
    /// let file = folder.join(format!("resilience-{}.yaml", std::process::id()));
    /// std::fs::write(&file, "retry.instances.payment.max_attempts: 3")?;
    /// let loader = Config::builder().file(&file);
    /// let registry = Resilience::from_config(loader.clone().load()?)?;
    ///
    /// std::fs::write(&file, "retry.instances.payment.max_attempts: 4")?;
    /// assert_eq!(registry.reload_from(&loader)?.changes.len(), 1);
    /// assert_eq!(registry.retry("payment").config().max_attempts(), 4);
    /// # std::fs::remove_file(file)?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn reload_from(&self, loader: &ConfigBuilder) -> Result<Reload, ConfigError> {
        self.inner.reload(|| loader.clone().load())
    }

    /// Switches every instance of a pattern off, or on again: those there are and those to come, until
    /// it is said again.
    ///
    /// It takes the place of the pattern's own `enabled` in files and of `RESILIENCE_<PATTERN>_ENABLED`,
    /// now and across reloads. Switched off, no instance acts. Switched on, each acts unless its own
    /// `enabled` says otherwise, or that of its base. What an instance's `set_enabled` has said before
    /// is forgotten; what it says later holds.
    ///
    /// Calls that wait for a slot of a bulkhead or for their turn with a limiter go on at once. A
    /// layer that is switched off costs a call one atomic load.
    ///
    /// # Examples
    ///
    /// ```
    /// use resilience::{Config, Resilience, config::{Format, Pattern}};
    ///
    /// let yaml = "bulkhead.instances.full.max_concurrent_calls: 0";
    /// let registry = Resilience::from_config(Config::from_str(yaml, Format::Yaml)?)?;
    /// let full = registry.bulkhead("full");
    /// registry.set_enabled(Pattern::Bulkhead, false);
    /// assert!(full.try_acquire().is_ok());
    /// registry.set_enabled(Pattern::Bulkhead, true);
    /// assert!(full.try_acquire().is_err());
    /// # Ok::<(), resilience::ConfigError>(())
    /// ```
    pub fn set_enabled(&self, pattern: Pattern, on: bool) {
        let inner = &*self.inner;
        let changing = inner.changing.lock();
        let in_force = Arc::new(inner.in_force().switched(pattern, on));
        *inner.in_force.write() = Arc::clone(&in_force);
        let aftermath = match pattern {
            Pattern::CircuitBreaker => switch(&inner.circuit_breakers, &in_force),
            Pattern::Retry => switch(&inner.retries, &in_force),
            Pattern::RateLimiter => switch(&inner.rate_limiters, &in_force),
            Pattern::TimeLimiter => switch(&inner.time_limiters, &in_force),
            Pattern::Bulkhead => switch(&inner.bulkheads, &in_force),
            Pattern::ThreadPoolBulkhead => switch(&inner.thread_pools, &in_force),
        };
        drop(changing);
        drop(aftermath);
        log::switched(pattern, on);
    }
}

fn switch<T: Managed>(instances: &Instances<T>, in_force: &InForce) -> Vec<Aftermath> {
    let own = |instance: &T| in_force.read_or_default::<T>(instance.name()).0.bool("enabled");
    instances.all().iter().map(|instance| instance.enable(own(instance))).collect()
}

impl Inner {
    /// Fills the process registry.
    pub(super) fn start(&self, config: Config, strict: Strict) -> Result<(), ConfigError> {
        let changing = self.changing.lock();
        let warnings = check::at_start(&config, &strict)?;
        let Some(Ok(())) = self.program.as_ref().map(|program| program.set(strict)) else {
            return Err(Problem::new(
                "`resilience::init` was called twice; the registry is filled once per process, use \
                 `Resilience::reload` for another configuration",
            )
            .into());
        };
        let adopted = self.adopt(config, warnings);
        drop(changing);
        self.tell(adopted);
        Ok(())
    }

    /// Fills a registry that nobody has seen yet.
    pub(super) fn fill(&self, config: Config, warnings: Vec<Warning>) {
        let adopted = self.adopt(config, warnings);
        self.tell(adopted);
    }

    pub(super) fn reload(
        &self,
        load: impl FnOnce() -> Result<Config, ConfigError>,
    ) -> Result<Reload, ConfigError> {
        let changing = self.changing.lock();
        let outcome = load().and_then(|config| {
            let warnings = self.check(&config)?;
            Ok(self.adopt(config, warnings))
        });
        let now = self.clock.now();
        self.metrics.lock().count(outcome.is_ok(), now);
        self.note(match &outcome {
            Ok(adopted) => RegistryEventKind::Reloaded { changes: adopted.changes.len() },
            Err(error) => RegistryEventKind::ReloadFailed {
                error: bounded(error.to_string(), MAX_EVENT_TEXT).into(),
            },
        });
        drop(changing);
        match outcome {
            Ok(adopted) => {
                log::reloaded(&adopted.changes);
                Ok(Reload { changes: self.tell(adopted) })
            }
            Err(error) => {
                log::refused(&error);
                self.events.deliver();
                Err(error)
            }
        }
    }

    /// Whether the sources of `loader` say what was loaded, line by line.
    #[cfg(feature = "watch")]
    pub(super) fn is_loaded_from(&self, loader: ConfigBuilder) -> bool {
        loader.load().is_ok_and(|config| self.in_force().is_under(&config))
    }

    /// Checks a configuration as the first one was.
    fn check(&self, config: &Config) -> Result<Vec<Warning>, ConfigError> {
        let warnings = match self.program.as_ref().map(|program| program.get()) {
            None => check::of_config(config)?,
            Some(Some(strict)) => check::at_start(config, strict)?,
            Some(None) => {
                let message = "the process registry cannot be reloaded before it is filled; call \
                               `resilience::init` first";
                return Err(Problem::new(message).into());
            }
        };
        let (before, mut problems) = (self.in_force(), Vec::new());
        let after = before.under(config.clone());
        lost(&self.circuit_breakers, &before, &after, &mut problems);
        lost(&self.retries, &before, &after, &mut problems);
        lost(&self.rate_limiters, &before, &after, &mut problems);
        lost(&self.time_limiters, &before, &after, &mut problems);
        lost(&self.bulkheads, &before, &after, &mut problems);
        lost(&self.thread_pools, &before, &after, &mut problems);
        if problems.is_empty() { Ok(warnings) } else { Err(ConfigError::new(problems)) }
    }

    /// Takes a checked configuration: makes what it declares, and reconfigures what is there where it
    /// says something else.
    fn adopt(&self, config: Config, warnings: Vec<Warning>) -> Adopted {
        let before = self.in_force();
        let after = Arc::new(before.under(config));
        let new_warnings = self.warnings.replace(warnings);
        let mut adopted = Adopted { new_warnings, ..Adopted::default() };
        self.put_in_force(&after, &mut adopted);
        self.adopt_instances(&self.circuit_breakers, &before, &after, &mut adopted);
        self.adopt_instances(&self.retries, &before, &after, &mut adopted);
        self.adopt_instances(&self.rate_limiters, &before, &after, &mut adopted);
        self.adopt_instances(&self.time_limiters, &before, &after, &mut adopted);
        self.adopt_instances(&self.bulkheads, &before, &after, &mut adopted);
        self.adopt_instances(&self.thread_pools, &before, &after, &mut adopted);
        adopted
    }

    /// Replaces what is in force and the keys that follow from it, as one step for whoever looks for
    /// an instance. Whoever makes one meanwhile looks again before it puts it in.
    fn put_in_force(&self, after: &Arc<InForce>, adopted: &mut Adopted) {
        let mut circuit_breakers = self.circuit_breakers.lock();
        let mut retries = self.retries.lock();
        let mut rate_limiters = self.rate_limiters.lock();
        let mut time_limiters = self.time_limiters.lock();
        let mut bulkheads = self.bulkheads.lock();
        let mut thread_pools = self.thread_pools.lock();
        *self.in_force.write() = Arc::clone(after);
        macro_rules! rekey {
            ($($instances:ident: $pattern:ident),*) => {
                $(for displaced in $instances.rekey(
                    |name| after.key(Pattern::$pattern, name),
                    |name| after.spelled(Pattern::$pattern, name) == name,
                ) {
                    self.note_removed(&displaced);
                    adopted.aftermath.push(Aftermath::new(move || displaced.retire()));
                })*
            };
        }
        rekey!(
            circuit_breakers: CircuitBreaker,
            retries: Retry,
            rate_limiters: RateLimiter,
            time_limiters: TimeLimiter,
            bulkheads: Bulkhead,
            thread_pools: ThreadPoolBulkhead
        );
    }

    fn adopt_instances<T: Managed>(
        &self,
        instances: &Instances<T>,
        before: &InForce,
        after: &InForce,
        adopted: &mut Adopted,
    ) {
        for instance in instances.all() {
            let changes = changes::<T>(before, after, instance.name());
            if !changes.is_empty() {
                adopted.changes.extend(changes);
                let (_, config) = after.read_or_default::<T>(instance.name());
                adopted.aftermath.push(instance.reconfigure(config));
            }
        }
        for name in after.config.instances(T::PATTERN) {
            if instances.find(&after.key(T::PATTERN, name)).is_none() {
                adopted.changes.extend(changes::<T>(before, after, name));
                // One that was removed by hand is made when it is used again.
                if !before.config.declares(T::PATTERN, name) {
                    self.find_or_make(instances, name);
                }
            }
        }
    }

    fn tell(&self, adopted: Adopted) -> Vec<Change> {
        let Adopted { changes, new_warnings, aftermath } = adopted;
        drop(aftermath);
        for warning in &new_warnings {
            warnings::log(warning);
        }
        self.events.deliver();
        changes
    }
}

/// Instances that would come to work on their defaults because an attribute does not go together
/// with the new configuration.
fn lost<T: Managed>(
    instances: &Instances<T>,
    before: &InForce,
    after: &InForce,
    problems: &mut Vec<Problem>,
) {
    let in_use = instances.all();
    let names = in_use.iter().map(T::name).chain(after.config.instances(T::PATTERN));
    for name in names {
        if let Err(error) = after.read::<T>(name)
            && (before.read::<T>(name).is_ok() || !before.config.declares(T::PATTERN, name))
        {
            for problem in error.problems() {
                if !problems.contains(problem) {
                    problems.push(problem.clone());
                }
            }
        }
    }
}

fn changes<T: Managed>(before: &InForce, after: &InForce, name: &str) -> Vec<Change> {
    let (old, _) = before.read_or_default::<T>(name);
    let (new, _) = after.read_or_default::<T>(name);
    let path = instance_path(T::PATTERN, after.spelled(T::PATTERN, name));
    let changed = old.changes(&new).map(|(key, old, new)| Change {
        path: format!("{path}.{key}"),
        old: old.cloned(),
        new: new.cloned(),
    });
    changed.collect()
}

#[cfg(feature = "tracing")]
mod log {
    use super::{Change, ConfigError, Pattern, bounded};

    /// How many changes are logged one by one.
    const MAX_LINES: usize = 100;

    /// How long the text of an error is at most.
    const MAX_ERROR: usize = 8192;

    pub(super) fn reloaded(changes: &[Change]) {
        tracing::info!(
            target: "resilience",
            "configuration reloaded; settings that changed: {}",
            changes.len()
        );
        for change in changes.iter().take(MAX_LINES) {
            tracing::info!(target: "resilience", "{change}");
        }
        if let Some(more) = changes.len().checked_sub(MAX_LINES).filter(|more| *more > 0) {
            tracing::info!(target: "resilience", "{more} more settings changed");
        }
    }

    pub(super) fn refused(error: &ConfigError) {
        let error = bounded(error.to_string(), MAX_ERROR);
        tracing::warn!(
            target: "resilience",
            "reload failed, the configuration in force stays: {error}"
        );
    }

    pub(super) fn switched(pattern: Pattern, on: bool) {
        let state = if on { "on" } else { "off" };
        tracing::info!(target: "resilience", "{pattern} switched {state} at run time");
    }
}

#[cfg(not(feature = "tracing"))]
mod log {
    use super::{Change, ConfigError, Pattern};

    pub(super) fn reloaded(_: &[Change]) {}

    pub(super) fn refused(_: &ConfigError) {}

    pub(super) fn switched(_: Pattern, _: bool) {}
}

#[cfg(all(test, feature = "tracing"))]
mod tests {
    use std::sync::Mutex;

    use resilience_settings::Value;
    use tracing::{
        Event, Subscriber,
        field::{Field, Visit},
        subscriber::with_default,
    };
    use tracing_subscriber::{Layer, layer::Context, layer::SubscriberExt, registry};

    use super::*;
    use crate::config::Origin;

    /// Keeps the messages that are logged.
    #[derive(Clone, Default)]
    struct Messages(Arc<Mutex<Vec<String>>>);

    impl<S: Subscriber> Layer<S> for Messages {
        fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
            event.record(&mut self.clone());
        }
    }

    impl Visit for Messages {
        fn record_debug(&mut self, _: &Field, value: &dyn std::fmt::Debug) {
            self.0.lock().expect("no panic under it").push(format!("{value:?}"));
        }
    }

    #[test]
    fn changes_are_logged_one_by_one_up_to_a_hundred() {
        let change = |n: u64| Change {
            path: format!("retry.instances.{n}.max_attempts"),
            old: Some((Value::Integer(3), Origin::Default)),
            new: Some((Value::Integer(n), Origin::Code)),
        };
        let messages = Messages::default();
        with_default(registry().with(messages.clone()), || {
            log::reloaded(&(0..123).map(change).collect::<Vec<_>>());
        });
        let messages = messages.0.lock().unwrap();
        assert_eq!(messages.len(), 1 + 100 + 1);
        assert_eq!(messages[0], "configuration reloaded; settings that changed: 123");
        assert_eq!(messages[8], "retry.instances.7.max_attempts: 3 (default) -> 7 (code)");
        assert_eq!(messages[101], "23 more settings changed");
    }
}
