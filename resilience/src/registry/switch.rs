//! Patterns that are switched off while the program runs.

use std::sync::Arc;

use resilience_settings::Pattern;

use super::{
    Resilience,
    all_instances::of_pattern,
    in_force::InForce,
    instances::{Instances, Managed},
    log,
};
use crate::aftermath::Aftermath;

impl Resilience {
    /// Switches every instance of a pattern off, or on again: those there are and those to come, until
    /// it is said again.
    ///
    /// It takes the place of the pattern's own `enabled` in files and of `RESILIENCE_<PATTERN>_ENABLED`,
    /// now and across reloads, until [`clear_enabled`](Resilience::clear_enabled); a reload whose
    /// `enabled` says the opposite is [warned](Resilience::warnings) of. Switched off, no instance acts. Switched on, each acts unless its own
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
        self.switch(pattern, Some(on));
        log::switched(pattern, on);
    }

    /// Gives a pattern back to the configuration: what [`set_enabled`](Resilience::set_enabled) has
    /// said of it is forgotten, and so is what that of its instances has said.
    ///
    /// # Examples
    ///
    /// ```
    /// use resilience::{Config, Resilience, config::{Format, Pattern}};
    ///
    /// let yaml = "{ retry: { enabled: false, instances: { payment: {} } } }";
    /// let registry = Resilience::from_config(Config::from_str(yaml, Format::Yaml)?)?;
    /// registry.set_enabled(Pattern::Retry, true);
    /// assert!(registry.retry("payment").config().is_enabled());
    /// registry.clear_enabled(Pattern::Retry);
    /// assert!(!registry.retry("payment").config().is_enabled());
    /// # Ok::<(), resilience::ConfigError>(())
    /// ```
    pub fn clear_enabled(&self, pattern: Pattern) {
        self.switch(pattern, None);
        log::switch_cleared(pattern);
    }

    fn switch(&self, pattern: Pattern, on: Option<bool>) {
        let inner = &*self.inner;
        let changing = inner.changing.lock();
        let in_force = Arc::new(inner.in_force().switched(pattern, on));
        *inner.in_force.write() = Arc::clone(&in_force);
        let aftermath = of_pattern!(pattern, inner.instances, |all| switch(all, &in_force));
        drop(changing);
        drop(aftermath);
    }
}

fn switch<T: Managed>(instances: &Instances<T>, in_force: &InForce) -> Vec<Aftermath> {
    let own = |instance: &T| in_force.read_or_default::<T>(instance.name()).bool("enabled");
    instances.all().iter().map(|instance| instance.enable(own(instance))).collect()
}
