use std::{
    fmt,
    sync::Arc,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use super::RecentEvent;
use crate::sealed::SealedEvent;

/// What every event of every pattern tells; sealed.
pub trait Event: SealedEvent + Clone + fmt::Display + Send + Sync + 'static {
    /// Resilience4j's name of the event type, such as `STATE_TRANSITION`.
    fn type_name(&self) -> &'static str;

    /// Nanoseconds since the Unix epoch on the instance's clock.
    fn created_at_nanos(&self) -> u64;

    /// The name of the instance.
    fn instance(&self) -> &str;

    /// The time of the event.
    fn created_at(&self) -> SystemTime {
        UNIX_EPOCH + Duration::from_nanos(self.created_at_nanos())
    }

    /// Whether there is one for every call, so that one more or less tells little; a state change,
    /// say, is not of that sort.
    fn comes_with_calls(&self) -> bool {
        true
    }
}

/// What kinds of events a pattern has; sealed.
pub trait EventKind: SealedEvent + Clone + Send + Sync + 'static {
    /// The name of the pattern, as Resilience4j's texts have it.
    const PATTERN: &'static str;

    /// Resilience4j's name of the event type, such as `STATE_TRANSITION`.
    fn type_name(&self) -> &'static str;

    /// Says in words what the instance did.
    ///
    /// # Errors
    ///
    /// That of the formatter.
    fn describe(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result;

    /// See [`Event::comes_with_calls`].
    fn comes_with_calls(&self) -> bool {
        true
    }
}

/// Something that happened at an instance.
///
/// Each pattern has a name of its own for it: [`RetryEvent`](crate::retry::RetryEvent) and so on.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct InstanceEvent<K> {
    /// The name of the instance.
    pub instance: Arc<str>,
    /// When it happened: nanoseconds since the Unix epoch on the instance's clock.
    pub at: u64,
    /// What happened.
    pub kind: K,
    pub(super) key: Option<Arc<str>>,
}

impl<K> InstanceEvent<K> {
    /// Returns the key that the instance is for, if it is a [keyed](crate::keyed) one.
    ///
    /// The event's text does not have it: keys may be user ids.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::sync::mpsc;
    /// use resilience::{Bulkhead, BulkheadConfig};
    ///
    /// let bulkhead = Bulkhead::new("shard", BulkheadConfig::default());
    /// let (sender, events) = mpsc::channel();
    /// bulkhead.events().subscribe(move |event| drop(sender.send(event.clone()))).forever();
    /// drop(bulkhead.keyed("eu-1").try_acquire());
    /// assert_eq!(events.recv()?.key(), Some("eu-1"));
    /// # Ok::<(), mpsc::RecvError>(())
    /// ```
    pub fn key(&self) -> Option<&str> {
        self.key.as_deref()
    }
}

/// Without the key, which may be a user id.
impl<K: fmt::Debug> fmt::Debug for InstanceEvent<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InstanceEvent")
            .field("instance", &self.instance)
            .field("at", &self.at)
            .field("kind", &self.kind)
            .finish_non_exhaustive()
    }
}

impl<K: EventKind> SealedEvent for InstanceEvent<K> {
    fn add_details(&self, recent: &mut RecentEvent) {
        self.kind.add_details(recent);
    }
}

impl<K: EventKind> Event for InstanceEvent<K> {
    fn type_name(&self) -> &'static str {
        self.kind.type_name()
    }

    fn created_at_nanos(&self) -> u64 {
        self.at
    }

    fn instance(&self) -> &str {
        &self.instance
    }

    fn comes_with_calls(&self) -> bool {
        self.kind.comes_with_calls()
    }
}

impl<K: EventKind> fmt::Display for InstanceEvent<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} '{}' ", K::PATTERN, self.instance)?;
        self.kind.describe(f)
    }
}
