use std::fmt;

use super::{Event, Events, MAX_EVENT_TEXT, RecentEvent};
use crate::sealed::SealedEvent;

/// An event of the tests; the one of number 0 does not come with calls.
#[derive(Clone)]
pub(super) struct Tick(pub(super) u64);

impl fmt::Display for Tick {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "tick {}", self.0)
    }
}

impl SealedEvent for Tick {
    fn add_details(&self, recent: &mut RecentEvent) {
        recent.attempts = self.0.try_into().ok();
        recent.error = Some("e".repeat(MAX_EVENT_TEXT + 1));
    }
}

impl Event for Tick {
    fn type_name(&self) -> &'static str {
        "TICK"
    }

    fn comes_with_calls(&self) -> bool {
        self.0 != 0
    }

    fn created_at_nanos(&self) -> u64 {
        self.0
    }

    fn instance(&self) -> &'static str {
        "clock"
    }
}

pub(super) fn publish(events: &Events<Tick>, n: u64) {
    events.push(Tick(n));
    events.deliver();
}
