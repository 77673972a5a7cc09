use std::{
    collections::VecDeque,
    time::{Duration, SystemTime},
};

use super::Event;

/// The longest text that [`Events::recent`](super::Events::recent) gives of one event, in bytes.
pub const MAX_EVENT_TEXT: usize = 1024;

/// An event as [`Events::recent`](super::Events::recent) tells of it. A [key](crate::keyed) is not in
/// it.
///
/// # Examples
///
/// ```
/// use resilience::{CircuitBreaker, CircuitBreakerConfig, circuit_breaker::State};
///
/// let breaker = CircuitBreaker::new("payment", CircuitBreakerConfig::default());
/// breaker.transition_to(State::Open)?;
/// let event = &breaker.events().recent()[0];
/// assert_eq!(event.type_name, "STATE_TRANSITION");
/// assert_eq!(event.transition, Some(("CLOSED", "OPEN")));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RecentEvent {
    /// Resilience4j's name of the event type.
    pub type_name: &'static str,
    /// When it happened.
    pub created_at: SystemTime,
    /// The event in words, at most [`MAX_EVENT_TEXT`] bytes.
    pub text: String,
    /// What was wrong, at most [`MAX_EVENT_TEXT`] bytes: the kinds of an error, with commas between
    /// them.
    pub error: Option<String>,
    /// How long the call took.
    pub duration: Option<Duration>,
    /// How many attempts asked for another one.
    pub attempts: Option<u32>,
    /// The states before and after.
    pub transition: Option<(&'static str, &'static str)>,
}

impl RecentEvent {
    pub(crate) fn of<E: Event>(event: &E) -> Self {
        let mut recent = Self {
            type_name: event.type_name(),
            created_at: event.created_at(),
            text: bounded(event.to_string(), MAX_EVENT_TEXT),
            error: None,
            duration: None,
            attempts: None,
            transition: None,
        };
        event.add_details(&mut recent);
        recent.error = recent.error.map(|error| bounded(error, MAX_EVENT_TEXT));
        recent
    }
}

/// The last events. They are kept as they are and put into words for who asks: most are pushed out
/// unread.
///
/// What comes with calls would soon push out a change of state. So it gives way first, unless changes
/// have more than half of the room.
pub(super) struct Ring<E> {
    capacity: usize,
    /// By the number of each event, which tells their order.
    with_calls: VecDeque<(u64, E)>,
    changes: VecDeque<(u64, E)>,
    pushed: u64,
}

impl<E: Event> Ring<E> {
    pub(super) fn new(capacity: usize) -> Self {
        Self { capacity, with_calls: VecDeque::new(), changes: VecDeque::new(), pushed: 0 }
    }

    pub(super) fn push(&mut self, event: E) {
        self.pushed += 1;
        let kept = if event.comes_with_calls() { &mut self.with_calls } else { &mut self.changes };
        kept.push_back((self.pushed, event));
        self.make_room();
    }

    pub(super) fn set_capacity(&mut self, capacity: usize) {
        self.capacity = capacity;
        self.make_room();
    }

    fn make_room(&mut self) {
        while self.len() > self.capacity {
            let crowd_out = self.changes.len() > self.capacity.div_ceil(2);
            if crowd_out || self.with_calls.pop_front().is_none() {
                self.changes.pop_front();
            }
        }
    }

    pub(super) fn clear(&mut self) {
        *self = Self::new(self.capacity);
    }

    /// Oldest first.
    pub(super) fn all(&self) -> Vec<E> {
        let mut all: Vec<_> = self.with_calls.iter().chain(&self.changes).collect();
        all.sort_unstable_by_key(|(number, _)| number);
        all.into_iter().map(|(_, event)| event.clone()).collect()
    }
}

impl<E> Ring<E> {
    pub(super) fn len(&self) -> usize {
        self.with_calls.len() + self.changes.len()
    }
}

/// Cuts a text to at most that many bytes.
pub(crate) fn bounded(mut text: String, max: usize) -> String {
    if text.len() > max {
        let end = (0..=max).rev().find(|&i| text.is_char_boundary(i)).unwrap_or(0);
        text.truncate(end);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{super::tick::Tick, *};

    fn kept(ring: &Ring<Tick>) -> Vec<u64> {
        ring.all().into_iter().map(|tick| tick.0).collect()
    }

    #[test]
    fn the_ring_keeps_the_last_events() {
        let mut ring = Ring::new(2);
        (1..=3).for_each(|n| ring.push(Tick(n)));
        assert_eq!(kept(&ring), [2, 3]);
    }

    #[test]
    fn calls_do_not_push_out_a_change_and_changes_take_at_most_half_from_calls() {
        let mut ring = Ring::new(4);
        ring.push(Tick(0)); // a change
        (1..=9).for_each(|n| ring.push(Tick(n)));
        assert_eq!(kept(&ring), [0, 7, 8, 9]);
        (0..3).for_each(|_| ring.push(Tick(0)));
        assert_eq!(kept(&ring), [8, 9, 0, 0]);
    }

    #[test]
    fn changes_alone_have_all_the_room() {
        let mut ring = Ring::new(3);
        (0..5).for_each(|_| ring.push(Tick(0)));
        assert_eq!(kept(&ring).len(), 3);
        ring.push(Tick(1));
        assert_eq!(kept(&ring), [0, 0, 1]);
    }

    #[test]
    fn a_smaller_ring_keeps_the_newest() {
        let mut ring = Ring::new(3);
        (1..=3).for_each(|n| ring.push(Tick(n)));
        ring.set_capacity(1);
        assert_eq!(kept(&ring), [3]);
        ring.push(Tick(4));
        assert_eq!(kept(&ring), [4]);
    }

    #[test]
    fn a_text_is_cut_between_characters() {
        assert_eq!(bounded("ü".repeat(2000), MAX_EVENT_TEXT).len(), MAX_EVENT_TEXT);
        assert_eq!(bounded("aü".to_owned(), 2), "a");
    }

    #[test]
    fn an_event_tells_its_details_and_a_long_error_is_cut() {
        let recent = RecentEvent::of(&Tick(3));
        assert_eq!((recent.type_name, recent.text.as_str()), ("TICK", "tick 3"));
        assert_eq!(recent.attempts, Some(3));
        assert_eq!(recent.error.map(|error| error.len()), Some(MAX_EVENT_TEXT));
    }
}
