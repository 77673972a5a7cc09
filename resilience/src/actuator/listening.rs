//! Listening to all instances of a pattern at once.

use std::{collections::HashMap, sync::Arc};

use super::watched::Watched;
use crate::{
    Resilience,
    events::{Event, Events, InstanceEvent, Subscription},
    registry::RegistryEventKind,
    sync::plain::Mutex,
};

/// Which events are listened to.
#[derive(Debug, Clone, Copy)]
pub(super) enum Reach {
    All,
    /// Those that do not come with calls.
    Changes,
}

impl Reach {
    fn subscribe<E: Event>(
        self,
        events: &Events<E>,
        listener: impl Fn(&E) + Send + Sync + 'static,
    ) -> Subscription {
        match self {
            Self::All => events.subscribe(listener),
            Self::Changes => events.subscribe_to_changes(listener),
        }
    }
}

/// A listener at every instance of a pattern, those made later included; dropping it ends it.
pub(super) struct Listening {
    _registry: Subscription,
    _instances: Arc<Mutex<HashMap<String, Subscription>>>,
}

impl Listening {
    /// Calls `listener` with the events of those instances whose name is `wanted`.
    pub(super) fn to<T: Watched>(
        registry: &Resilience,
        reach: Reach,
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
                        let subscription =
                            reach.subscribe(&instance.all_events(), listener.clone());
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
                    let subscription = reach.subscribe(&instance.all_events(), listener.clone());
                    instances.insert(name.to_owned(), subscription);
                }
            }
        }
        Self { _registry: changes, _instances: instances }
    }
}
