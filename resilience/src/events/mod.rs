//! Events of an instance: who listens, what was last, and in which order they arrive.

mod event;
mod hub;
mod recent;
mod stream;
#[cfg(test)]
mod tick;

pub use self::{
    event::{Event, EventKind, InstanceEvent},
    hub::{Events, Subscription},
    recent::{MAX_EVENT_TEXT, RecentEvent},
    stream::{EventStream, Lagged},
};

pub(crate) use self::recent::bounded;
