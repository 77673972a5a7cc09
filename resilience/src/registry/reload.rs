//! Another configuration for a registry that is in use.

use std::sync::Arc;

use resilience_settings::Pattern;

use super::{
    Change, Inner, RegistryEventKind, Reload, Resilience,
    all_instances::{each, of_pattern},
    check::{self, Strict, Until, Warning},
    in_force::InForce,
    instances::{By, Instances, Managed},
    log, resolve,
};
use crate::{
    aftermath::Aftermath,
    config::{Config, ConfigBuilder, ConfigError, Finding, Problem, Settings, instance_path},
    events::{MAX_EVENT_TEXT, bounded},
    store::Store,
};

/// What came of a change of the configuration, to be told once no lock is held.
#[derive(Default)]
struct Adopted {
    changes: Vec<Change>,
    new_warnings: Vec<Finding>,
    warnings_at_use: Vec<String>,
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
    ///   come back; a larger one lets in those that wait: a bulkhead at once, a rate limiter as its
    ///   next refills allow.
    /// - Calls on their way, counters and listeners stay.
    /// - A retry budget keeps what it has counted.
    /// - The store under `redis` is opened where there was none. The one that is open stays: another address
    ///   or time is an error, and needs a restart.
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
        self.inner.reload(config)
    }

    /// Reads the sources of `loader` anew and puts in force what they say, as
    /// [`reload`](Resilience::reload) does.
    ///
    /// It reads files on the calling thread, and waits there for a file system that does not answer.
    /// Other calls that read sources wait for this one; [`reload`](Resilience::reload) and
    /// [`set_enabled`](Resilience::set_enabled) do not.
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
        self.inner.reload_by(|| loader.clone().load())
    }
}

impl Inner {
    /// Fills the process registry.
    pub(super) fn start(&self, config: Config, strict: Strict) -> Result<(), ConfigError> {
        let changing = self.changing.lock();
        let warnings = check::at_start(&config, &strict)?;
        let opened = self.open_store(&config)?;
        let Some(Ok(())) = self.program.as_ref().map(|program| program.set(strict)) else {
            return Err(Problem::new(
                "`resilience::init` was called twice; the registry is filled once per process, use \
                 `Resilience::reload` for another configuration",
            )
            .into());
        };
        let adopted = self.adopt(config, warnings, opened);
        drop(changing);
        self.tell(adopted);
        Ok(())
    }

    /// Fills a registry that nobody has seen yet.
    pub(super) fn fill(&self, config: Config, warnings: Vec<Warning>, opened: Option<Store>) {
        let adopted = self.adopt(config, warnings, opened);
        self.tell(adopted);
    }

    pub(super) fn reload(&self, config: Config) -> Result<Reload, ConfigError> {
        let outcome = self.take(Ok(config));
        self.tell_outcome(outcome)
    }

    /// Reads sources, which may take any time, before it keeps other changes out. Of two that read
    /// the same sources the one that has read later is in force at the end.
    pub(super) fn reload_by(
        &self,
        load: impl FnOnce() -> Result<Config, ConfigError>,
    ) -> Result<Reload, ConfigError> {
        let loading = self.loading.lock();
        let outcome = self.take(load());
        drop(loading);
        self.tell_outcome(outcome)
    }

    fn take(&self, loaded: Result<Config, ConfigError>) -> Result<Adopted, ConfigError> {
        let _changing = self.changing.lock();
        let outcome = loaded.and_then(|config| {
            let warnings = self.check(&config)?;
            let opened = self.open_store(&config)?;
            Ok(self.adopt(config, warnings, opened))
        });
        let now = self.clock.now();
        self.metrics.lock().count(outcome.is_ok(), now);
        self.note(match &outcome {
            Ok(adopted) => RegistryEventKind::Reloaded { changes: adopted.changes.len() },
            Err(error) => RegistryEventKind::ReloadFailed {
                error: bounded(error.to_string(), MAX_EVENT_TEXT).into(),
            },
        });
        outcome
    }

    /// Runs what listeners and subscribers have to do with it: no lock may be held.
    fn tell_outcome(&self, outcome: Result<Adopted, ConfigError>) -> Result<Reload, ConfigError> {
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
        let before = self.in_force();
        let mut problems = self.changed_store(&before.config, config);
        let after = before.under(config.clone());
        each!(self.instances, |instances| lost(instances, &before, &after, &mut problems));
        if problems.is_empty() { Ok(warnings) } else { Err(ConfigError::new(problems)) }
    }

    /// Takes a checked configuration: makes what it declares, and reconfigures what is there where it
    /// says something else.
    fn adopt(&self, config: Config, mut warnings: Vec<Warning>, opened: Option<Store>) -> Adopted {
        let before = self.in_force();
        let after = Arc::new(before.under(config));
        let mut adopted = Adopted::default();
        let has_opened = opened.is_some();
        // Before anything is in force that needs it.
        if let Some(store) = opened {
            self.backing.put(store);
        }
        self.put_in_force(&after, &mut adopted);
        warnings.extend(check::overridden(&after));
        // By the keys that are in force now.
        warnings.retain(|warning| {
            !warning.until.as_ref().is_some_and(|until| self.is_settled(until, &after))
        });
        adopted.new_warnings = self.warnings.replace(warnings);
        if has_opened {
            each!(self.instances, |instances| {
                adopted.aftermath.extend(instances.all().iter().map(Managed::look_behind));
            });
        }
        each!(self.instances, |instances| {
            self.adopt_instances(instances, &before, &after, &mut adopted);
        });
        adopted.changes.extend(self.adopt_budgets(&before.config, &after.config));
        adopted
    }

    /// Replaces what is in force and the keys that follow from it, as one step for whoever looks for
    /// an instance. Whoever makes one meanwhile looks again before it puts it in.
    fn put_in_force(&self, after: &Arc<InForce>, adopted: &mut Adopted) {
        let mut locked = self.instances.lock();
        *self.in_force.write() = Arc::clone(after);
        each!(mut locked, |instances| {
            for displaced in instances.rekey(after) {
                self.note_removed(&displaced);
                adopted.aftermath.push(Aftermath::new(move || displaced.retire()));
            }
        });
    }

    fn adopt_instances<T: Managed>(
        &self,
        instances: &Instances<T>,
        before: &InForce,
        after: &InForce,
        adopted: &mut Adopted,
    ) {
        for instance in instances.all() {
            if let Some((changes, settings)) = changes::<T>(before, after, instance.name()) {
                adopted.changes.extend(changes);
                let (config, warnings) = self.config_of::<T>(&settings);
                adopted.warnings_at_use.extend(warnings);
                adopted.aftermath.push(instance.reconfigure(config));
            }
        }
        for name in after.config.instances(T::PATTERN) {
            if instances.find(&after.key(T::PATTERN, name)).is_none() {
                let changes = changes::<T>(before, after, name);
                adopted.changes.extend(changes.into_iter().flat_map(|(changes, _)| changes));
                // One that was removed by hand is made when it is used again.
                if !before.config.declares(T::PATTERN, name) {
                    self.find_or_make(instances, name, By::Registry);
                }
            }
        }
    }

    /// Whether a warning has nothing to warn of any more.
    pub(super) fn is_settled(&self, until: &Until, in_force: &InForce) -> bool {
        match until {
            Until::LookedUp(pattern, name) => {
                let key = in_force.key(*pattern, name);
                of_pattern!(pattern, self.instances, |instances| instances.was_looked_up(&key))
            }
            Until::BudgetLookedUp(name) => self.budgets.was_looked_up(name),
            Until::StoreOpened => self.backing.store().is_some(),
            Until::NotOverridden(pattern) => in_force.overridden(*pattern).is_none(),
        }
    }

    fn tell(&self, adopted: Adopted) -> Vec<Change> {
        let Adopted { changes, new_warnings, warnings_at_use, aftermath } = adopted;
        drop(aftermath);
        for warning in &new_warnings {
            log::found(warning);
        }
        for warning in warnings_at_use {
            self.warnings.add(warning);
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

/// What another configuration changes of an instance, and its settings if that is anything.
fn changes<T: Managed>(
    before: &InForce,
    after: &InForce,
    name: &str,
) -> Option<(Vec<Change>, Settings)> {
    let resolved = |in_force: &InForce| resolve(&in_force.config, T::PATTERN, name);
    if let (Ok(old), Ok(new)) = (resolved(before), resolved(after))
        && old.changes(&new).next().is_none()
    {
        return None; // most often: it is not worth to check the settings anew
    }
    let old = before.read_or_default::<T>(name);
    let new = after.read_or_default::<T>(name);
    let path = instance_path(T::PATTERN, after.spelled(T::PATTERN, name));
    let changes: Vec<Change> = old
        .changes(&new)
        .map(|(key, old, new)| Change {
            path: format!("{path}.{key}"),
            old: old.cloned(),
            new: new.cloned(),
        })
        .collect();
    (!changes.is_empty()).then_some((changes, new))
}

#[cfg(test)]
mod tests {
    use std::{sync::mpsc, thread, time::Duration};

    use super::*;

    #[test]
    fn sources_that_cannot_be_read_at_present_keep_nobody_else_waiting() {
        let registry = Resilience::from_config(Config::default()).unwrap();
        let load = || {
            let (registry, (done, is_done)) = (registry.clone(), mpsc::channel());
            let others = thread::spawn(move || {
                registry.set_enabled(Pattern::Retry, false);
                registry.reload(Config::default()).unwrap();
                done.send(()).unwrap();
            });
            is_done.recv_timeout(Duration::from_secs(10)).expect("they wait");
            others.join().unwrap();
            Ok(Config::default())
        };
        registry.inner.reload_by(load).unwrap();
        assert_eq!(registry.metrics().reloads, 2);
    }
}

#[cfg(all(test, feature = "tracing"))]
mod tests_with_subscribers {
    use tracing::{Event, Subscriber, subscriber::with_default};
    use tracing_subscriber::{Layer, layer::Context, layer::SubscriberExt, registry};

    use super::*;

    /// Reloads at a warning.
    struct Reloads(Resilience);

    impl<S: Subscriber> Layer<S> for Reloads {
        fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
            if *event.metadata().level() == tracing::Level::WARN {
                self.0.reload(attempts(4)).expect("a valid configuration");
            }
        }
    }

    fn attempts(n: u32) -> Config {
        let default = ("retry.configs.default.max_attempts", n.to_string());
        Config::builder()
            .env(false)
            .set(default.0, default.1)
            .load()
            .expect("a valid configuration")
    }

    #[test]
    fn an_instance_is_made_again_when_a_reload_comes_between_its_making_and_its_use() {
        let private = Resilience::from_config(attempts(2)).unwrap();
        let retry = with_default(registry().with(Reloads(private.clone())), || {
            private.retry("undeclared") // which is warned of while it is made
        });
        assert_eq!(private.metrics().reloads, 1);
        assert_eq!(retry.config().max_attempts(), 4);
        assert_eq!(private.retries().len(), 1);
    }
}
