//! Keeping every event of every instance.

use std::sync::atomic::{AtomicBool, Ordering};

use super::{
    Resilience,
    all_instances::each,
    instances::{Instances, Managed},
};

/// Whether the instances that are to come capture their events.
#[derive(Debug, Default)]
pub(super) struct Capture(AtomicBool);

impl Capture {
    /// Call it under the lock under which the instance becomes everybody's: so that it is either asked
    /// here after a change, or found by it.
    pub(super) fn apply<T: Managed>(&self, made: &T) {
        if self.0.load(Ordering::Relaxed) {
            made.capture(true);
        }
    }
}

impl Resilience {
    /// Turns on or off that every instance keeps every event for
    /// [`recent`](crate::events::Events::recent): those there are and those to come.
    ///
    /// It is [`Events::capture`](crate::events::Events::capture) for each of them. A layer then builds
    /// an event or two for every call under a lock of its instance, about 100 ns each, and keeps
    /// the last `event_consumer_buffer_size` of them.
    ///
    /// # Examples
    ///
    /// ```
    /// use resilience::{Config, Resilience};
    ///
    /// let registry = Resilience::from_config(Config::default())?;
    /// registry.capture_events(true);
    /// let bulkhead = registry.bulkhead("inventory");
    /// drop(bulkhead.try_acquire());
    /// let types: Vec<_> = bulkhead.events().recent().iter().map(|e| e.type_name).collect();
    /// assert_eq!(types, ["CALL_PERMITTED", "CALL_FINISHED"]);
    /// # Ok::<(), resilience::ConfigError>(())
    /// ```
    pub fn capture_events(&self, on: bool) {
        // One after the other, so that all instances end as the last one says.
        let _changing = self.inner.changing.lock();
        self.inner.capture.0.store(on, Ordering::Relaxed);
        each!(self.inner.instances, |instances| capture(instances, on));
    }
}

fn capture<T: Managed>(instances: &Instances<T>, on: bool) {
    instances.all().iter().for_each(|instance| instance.capture(on));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Bulkhead, Config};

    fn kept_of_a_call(bulkhead: &Bulkhead) -> usize {
        drop(bulkhead.try_acquire());
        bulkhead.events().recent().len()
    }

    #[test]
    fn instances_there_are_and_those_to_come_keep_their_events_until_it_is_turned_off() {
        let registry = Resilience::from_config(Config::default()).unwrap();
        let before = registry.bulkhead("before");
        assert_eq!(kept_of_a_call(&before), 0);
        registry.capture_events(true);
        let after = registry.bulkhead("after");
        assert_eq!([&before, &after].map(kept_of_a_call), [2, 2]);
        registry.capture_events(false);
        let last = registry.bulkhead("last");
        assert_eq!([&before, &after, &last].map(kept_of_a_call), [2, 2, 0]);
    }

    #[test]
    fn a_removed_instance_keeps_nothing_and_the_next_of_its_name_does() {
        let registry = Resilience::from_config(Config::default()).unwrap();
        registry.capture_events(true);
        let removed = registry.bulkhead("x");
        registry.remove("x");
        assert_eq!([removed, registry.bulkhead("x")].map(|b| kept_of_a_call(&b)), [0, 2]);
    }
}
