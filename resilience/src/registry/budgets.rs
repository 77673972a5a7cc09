use std::{collections::HashMap, sync::Arc};

use parking_lot::RwLock;
use resilience_settings::{canonical, check_name};

use super::{Inner, Resilience};
use crate::{
    config::{Config, Hints},
    retry::{RetryBudget, RetryBudgetConfig},
};

/// The retry budgets of a registry by the canonical form of their names.
#[derive(Debug, Default)]
pub(super) struct Budgets {
    by_name: RwLock<HashMap<String, RetryBudget>>,
}

impl Budgets {
    fn find(&self, name: &str) -> Option<RetryBudget> {
        self.by_name.read().get(&canonical(name)).cloned()
    }

    /// As for instances: `create` may log, so it runs outside of the lock.
    fn get_or_create(&self, name: &str, create: impl FnOnce() -> RetryBudget) -> RetryBudget {
        self.find(name).unwrap_or_else(|| {
            let created = create();
            self.by_name.write().entry(canonical(name)).or_insert(created).clone()
        })
    }

    pub(super) fn all(&self) -> Vec<RetryBudget> {
        let mut all: Vec<RetryBudget> = self.by_name.read().values().cloned().collect();
        all.sort_by(|a, b| a.name().cmp(b.name()));
        all
    }
}

impl Resilience {
    /// The retry budget of this name, made from the configuration when it is not there yet; on
    /// defaults where nobody declares it.
    ///
    /// A budget stays the same one for as long as the registry lives: another configuration changes
    /// its limits, and [`remove`](Resilience::remove) is about instances.
    ///
    /// # Panics
    ///
    /// When the name is empty, longer than 200 characters, has control characters or nothing but
    /// separators (`-`, `_`, `.`, space).
    ///
    /// # Examples
    ///
    /// ```
    /// use resilience::{Config, Resilience, config::Format};
    ///
    /// let text = "
    /// retry:
    ///   budgets:
    ///     backend: { ratio: 0.1, min_per_second: 5 }
    ///   instances:
    ///     read: { budget: backend }
    ///     write: { budget: backend }
    /// ";
    /// let registry = Resilience::from_config(Config::from_str(text, Format::Yaml)?)?;
    /// assert_eq!(registry.retry("read").config().budget(), Some("backend"));
    /// assert_eq!(registry.retry_budget("backend").metrics().available, 50);
    /// # Ok::<(), resilience::ConfigError>(())
    /// ```
    pub fn retry_budget(&self, name: &str) -> RetryBudget {
        self.inner.budget(name)
    }

    /// The retry budget of this name, if there is one.
    pub fn find_retry_budget(&self, name: &str) -> Option<RetryBudget> {
        self.inner.budgets.find(name)
    }

    /// Every retry budget, sorted by name.
    pub fn retry_budgets(&self) -> Vec<RetryBudget> {
        self.inner.budgets.all()
    }
}

impl Inner {
    pub(super) fn budget(&self, name: &str) -> RetryBudget {
        self.budgets.get_or_create(name, || {
            if let Err(error) = check_name(name) {
                panic!("{error}: {name:?}");
            }
            let config = Arc::clone(&self.config.read());
            let declared = config.declared_budget(name);
            if declared.is_none() && config.is_loaded() {
                let text = config.unknown_budget(name, &Hints::default());
                self.warn(format!("retry budget '{name}' works on its defaults: {text}"));
            }
            let settings: RetryBudgetConfig = config.budget_settings(name);
            RetryBudget::with_clock(declared.unwrap_or(name), settings, self.clock.clone())
        })
    }

    /// Makes what a configuration declares, and reconfigures what is there.
    pub(super) fn adopt_budgets(&self, config: &Config) {
        for budget in self.budgets.all() {
            budget.reconfigure(config.budget_settings(budget.name()));
        }
        for name in config.retry_budgets() {
            self.budget(name);
        }
    }

    /// The names of those in use, which includes every declared one.
    pub(super) fn budget_names(&self) -> Vec<String> {
        self.budgets.all().iter().map(|budget| budget.name().to_owned()).collect()
    }
}
