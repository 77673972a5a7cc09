//! What the endpoints of one pattern's events need to know of it.

use serde::Serialize;

use super::{
    filter::Filter,
    listening::{Listening, Reach},
    watched::Watched,
};
use crate::{
    Resilience,
    events::{Event, InstanceEvent, RecentEvent},
};

/// A pattern that has endpoints for its events. Thread pools are with the bulkheads.
pub(super) trait Topic: Watched {
    /// The path of its lists; that of its streams has `stream` before it.
    const EVENTS: &'static str;
    /// The types of its events, Resilience4j's.
    const TYPES: &'static [&'static str];
    /// An event in Resilience4j's shape.
    type Json: Serialize;
    /// A list of them.
    type List: Serialize + From<Vec<Self::Json>>;

    fn json(name: String, event: RecentEvent) -> Self::Json;

    /// All names that there are events of.
    fn names(registry: &Resilience) -> Vec<String> {
        names::<Self>(registry)
    }

    /// The kept events, each with the name it is found under.
    fn kept(registry: &Resilience, filter: &Filter) -> Vec<(String, RecentEvent)> {
        kept::<Self>(registry, filter)
    }

    /// Listens to what the filter lets through, until it is dropped.
    fn listen(
        registry: &Resilience,
        filter: &Filter,
        listener: impl Fn(String, InstanceEvent<Self::Kind>) + Clone + Send + Sync + 'static,
    ) -> Vec<Listening> {
        vec![listen::<Self>(registry, filter, listener)]
    }
}

pub(super) fn names<T: Watched>(registry: &Resilience) -> Vec<String> {
    T::all_in(registry).iter().map(|instance| T::shown(instance.name())).collect()
}

pub(super) fn kept<T: Watched>(
    registry: &Resilience,
    filter: &Filter,
) -> Vec<(String, RecentEvent)> {
    let instances = T::all_in(registry).into_iter();
    let named = instances.map(|instance| (T::shown(instance.name()), instance));
    let wanted = named.filter(|(name, _)| filter.wants_name(name));
    wanted
        .flat_map(|(name, instance)| {
            let events = instance.all_events().recent().into_iter();
            events.map(move |event| (name.clone(), event))
        })
        .filter(|(_, event)| filter.wants_type(event.type_name))
        .collect()
}

pub(super) fn listen<T: Watched>(
    registry: &Resilience,
    filter: &Filter,
    listener: impl Fn(String, InstanceEvent<T::Kind>) + Clone + Send + Sync + 'static,
) -> Listening {
    let (of_name, of_type) = (filter.clone(), filter.clone());
    Listening::to::<T>(
        registry,
        Reach::All,
        move |name| of_name.wants_name(&T::shown(name)),
        move |event| {
            if of_type.wants_type(event.type_name()) {
                listener(T::shown(&event.instance), event.clone());
            }
        },
    )
}
