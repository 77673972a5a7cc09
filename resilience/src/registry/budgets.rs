use std::collections::{HashMap, HashSet};

use resilience_settings::{Value, canonical, check_name};

use super::{Change, Inner, Resilience, instances::Managed};
use crate::{
    config::{Config, Hints, Origin, Settings},
    retry::{RetryBudget, RetryBudgetConfig},
    sync::plain::RwLock,
};

/// The retry budgets of a registry by the canonical form of their names.
#[derive(Debug, Default)]
pub(super) struct Budgets {
    by_name: RwLock<HashMap<String, RetryBudget>>,
    /// Those that the program itself has looked up.
    looked_up: RwLock<HashSet<String>>,
}

impl Budgets {
    fn find(&self, name: &str) -> Option<RetryBudget> {
        self.by_name.read().get(&canonical(name)).cloned()
    }

    fn note_looked_up(&self, name: &str) {
        let key = canonical(name);
        let is_known = self.looked_up.read().contains(&key);
        if !is_known {
            self.looked_up.write().insert(key);
        }
    }

    pub(super) fn was_looked_up(&self, name: &str) -> bool {
        self.looked_up.read().contains(&canonical(name))
    }

    /// Puts a budget in, unless `is_stale` by now; gives the one that is everybody's.
    fn insert(&self, budget: RetryBudget, is_stale: impl FnOnce() -> bool) -> Option<RetryBudget> {
        let mut by_name = self.by_name.write();
        if is_stale() {
            return None;
        }
        Some(by_name.entry(canonical(budget.name())).or_insert(budget).clone())
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
        let found = self.inner.budgets.find(name)?;
        self.inner.budgets.note_looked_up(name);
        Some(found)
    }

    /// Every retry budget, sorted by name.
    pub fn retry_budgets(&self) -> Vec<RetryBudget> {
        self.inner.budgets.all()
    }
}

impl Inner {
    fn budget(&self, name: &str) -> RetryBudget {
        let mut warnings = Vec::new();
        let budget = self.find_or_make_budget(name, &mut warnings);
        self.budgets.note_looked_up(name);
        for warning in warnings {
            self.warnings.add(warning);
        }
        budget
    }

    /// As for instances: one that was made by what is not in force any more is made again.
    fn find_or_make_budget(&self, name: &str, warnings: &mut Vec<String>) -> RetryBudget {
        loop {
            if let Some(found) = self.budgets.find(name) {
                return found;
            }
            if let Err(error) = check_name(name) {
                panic!("{error}: {name:?}");
            }
            let in_force = self.in_force();
            let config = &in_force.config;
            let declared = config.loaded().declared_budget(name);
            if declared.is_none() && config.loaded().has_source() {
                let text = config.loaded().unknown_budget(name, &Hints::default());
                warnings.push(format!("retry budget '{name}' works on its defaults: {text}"));
            }
            let settings: RetryBudgetConfig = config.budget_settings(name);
            let name = declared.unwrap_or(name);
            let made = RetryBudget::with_clock(name, settings, self.clock.clone());
            if let Some(budget) = self.budgets.insert(made, || !self.is_in_force(&in_force)) {
                return budget;
            }
        }
    }

    /// The configuration that settings stand for, with the budget that they name, which is made if it
    /// is not there. What there is to warn of is returned: a lock may be held now.
    pub(super) fn config_of<T: Managed>(&self, settings: &Settings) -> (T::Config, Vec<String>) {
        let mut warnings = Vec::new();
        let config = T::from_settings(settings).unwrap_or_default();
        let look_up = |budget: &str| self.find_or_make_budget(budget, &mut warnings);
        (T::find_budget(config, look_up), warnings)
    }

    /// Makes what a configuration declares, and reconfigures what is there where it says something
    /// else; tells what that is.
    pub(super) fn adopt_budgets(&self, before: &Config, after: &Config) -> Vec<Change> {
        let mut changes = Vec::new();
        for budget in self.budgets.all() {
            let of_budget = budget_changes(before, after, budget.name());
            if !of_budget.is_empty() {
                budget.reconfigure(after.budget_settings(budget.name()));
                changes.extend(of_budget);
            }
        }
        for name in after.retry_budgets() {
            if self.budgets.find(name).is_none() {
                changes.extend(budget_changes(before, after, name));
                // It is declared: there is nothing to warn of.
                self.find_or_make_budget(name, &mut Vec::new());
            }
        }
        changes
    }

    /// The names of those in use, which includes every declared one.
    pub(super) fn budget_names(&self) -> Vec<String> {
        self.budgets.all().iter().map(|budget| budget.name().to_owned()).collect()
    }
}

fn budget_changes(before: &Config, after: &Config, name: &str) -> Vec<Change> {
    let set = |value: &Value, origin: &Origin| Some((value.clone(), origin.clone()));
    let both = before.loaded().effective_budget(name).zip(after.loaded().effective_budget(name));
    both.filter(|((_, old, _), (_, new, _))| old != new)
        .map(|((path, old, old_origin), (_, new, new_origin))| Change {
            path,
            old: set(&old, &old_origin),
            new: set(&new, &new_origin),
        })
        .collect()
}
