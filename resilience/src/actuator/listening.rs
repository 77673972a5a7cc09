//! Listening to all instances of a pattern at once.

use std::{collections::HashMap, sync::Arc};

use super::topic::Watched;
use crate::{
    Resilience,
    events::{InstanceEvent, Subscription},
    registry::RegistryEventKind,
    sync::plain::Mutex,
};

/// A listener at every instance of a pattern, those made later included; dropping it ends it.
pub(super) struct Listening {
    _registry: Subscription,
    _instances: Arc<Mutex<HashMap<String, Subscription>>>,
}

impl Listening {
    /// Calls `listener` with the events of those instances whose name is `wanted`.
    pub(super) fn to<T: Watched>(
        registry: &Resilience,
        wanted: impl Fn(&str) -> bool + Send + Sync + 'static,
        listener: impl Fn(&InstanceEvent<T::Kind>) + Clone + Send + Sync + 'static,
    ) -> Self {
        let wanted = Arc::new(wanted);
        let instances = Arc::new(Mutex::new(HashMap::new()));
        // First those that are made from now on: then none is missed between the two.
        let changes = registry.events().subscribe({
            let (registry, wanted) = (registry.clone(), Arc::clone(&wanted));
            let (instances, listener) = (Arc::clone(&instances), listener.clone());
            move |event| match &event.kind {
                RegistryEventKind::EntryAdded { pattern, name }
                    if *pattern == T::PATTERN && wanted(name) =>
                {
                    if let Some(instance) = T::find_in(&registry, name) {
                        let subscription = instance.all_events().subscribe(listener.clone());
                        // Bound, so that the one that it replaces goes after the lock.
                        let _last = instances.lock().insert(name.to_string(), subscription);
                    }
                }
                RegistryEventKind::EntryRemoved { pattern, name } if *pattern == T::PATTERN => {
                    let _last = instances.lock().remove(&**name);
                }
                _ => {}
            }
        });
        for instance in T::all_in(registry) {
            let name = instance.name();
            if wanted(name) {
                let mut instances = instances.lock();
                if !instances.contains_key(name) {
                    let subscription = instance.all_events().subscribe(listener.clone());
                    instances.insert(name.to_owned(), subscription);
                }
            }
        }
        Self { _registry: changes, _instances: instances }
    }
}
