//! Slots and the queue for them: a pure state machine.

use std::collections::VecDeque;

/// The slots of a bulkhead. `W` is what the shell keeps of a waiting call.
///
/// A free slot and a queue never exist together: whoever frees a slot hands it over. So a newcomer
/// that finds a free slot overtakes nobody.
#[derive(Debug)]
pub(super) struct Engine<W> {
    max: u32,
    /// Slots held by guards, and those handed to waiting calls that have not been polled since.
    held: u64,
    /// Slots taken without a guard. They are counted apart so that giving back once too often
    /// cannot free the slot of a guard.
    untied: u64,
    /// Waiting calls by ascending id.
    queue: VecDeque<(u64, W)>,
    next_id: u64,
}

/// What a call that stopped waiting leaves behind.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Withdrawn<W> {
    /// It was in the queue.
    Queued(W),
    /// It had been given a slot, which went to this waiting call, if there was one.
    Granted(Option<W>),
}

impl<W> Engine<W> {
    pub(super) fn new(max: u32) -> Self {
        Self { max, held: 0, untied: 0, queue: VecDeque::new(), next_id: 0 }
    }

    pub(super) fn max(&self) -> u32 {
        self.max
    }

    pub(super) fn available(&self) -> u32 {
        let free = u64::from(self.max).saturating_sub(self.taken());
        u32::try_from(free).unwrap_or(u32::MAX)
    }

    /// How many slots are taken, with and without a guard.
    pub(super) fn taken(&self) -> u64 {
        self.held + self.untied
    }

    /// Takes over how many are taken, after guards alone took and freed some.
    pub(super) fn set_taken(&mut self, taken: u64) {
        self.held = taken.saturating_sub(self.untied);
    }

    pub(super) fn waiting(&self) -> u64 {
        self.queue.len() as u64
    }

    /// Whether no call has a slot or waits for one.
    pub(super) fn is_idle(&self) -> bool {
        self.taken() == 0 && self.queue.is_empty()
    }

    /// Takes a slot for a guard.
    pub(super) fn enter(&mut self) -> bool {
        let free = self.available() > 0;
        self.held += u64::from(free);
        free
    }

    /// Takes a slot that no guard gives back.
    pub(super) fn enter_untied(&mut self) -> bool {
        let free = self.available() > 0;
        self.untied += u64::from(free);
        free
    }

    /// Frees the slot of a guard. Returns the waiting call that has it now.
    pub(super) fn leave(&mut self) -> Option<W> {
        self.held = self.held.saturating_sub(1);
        self.hand_over()
    }

    /// Frees a slot taken by [`enter_untied`](Engine::enter_untied); false when none is taken.
    /// [`hand_over`](Engine::hand_over) must follow.
    pub(super) fn leave_untied(&mut self) -> bool {
        let taken = self.untied > 0;
        self.untied -= u64::from(taken);
        taken
    }

    /// Queues a call and returns its id.
    pub(super) fn enqueue(&mut self, waiter: W) -> u64 {
        let id = self.next_id;
        self.next_id += 1;
        self.queue.push_back((id, waiter));
        id
    }

    /// The waiting call of this id; `None` once it has been given a slot.
    pub(super) fn waiter(&mut self, id: u64) -> Option<&mut W> {
        self.position(id).map(|index| &mut self.queue[index].1)
    }

    /// Takes a call back that [`enqueue`](Engine::enqueue) queued and that holds no guard yet.
    pub(super) fn withdraw(&mut self, id: u64) -> Withdrawn<W> {
        match self.position(id).and_then(|index| self.queue.remove(index)) {
            Some((_, waiter)) => Withdrawn::Queued(waiter),
            None => Withdrawn::Granted(self.leave()),
        }
    }

    /// Changes the number of slots. Returns the waiting calls that have one now; what was granted
    /// above a lowered maximum stays granted.
    pub(super) fn set_max(&mut self, max: u32) -> Vec<W> {
        self.max = max;
        std::iter::from_fn(|| self.hand_over()).collect()
    }

    /// Gives every waiting call a slot, whether one is free or not, and returns them.
    pub(super) fn admit_all(&mut self) -> Vec<W> {
        self.held += self.waiting();
        self.queue.drain(..).map(|(_, waiter)| waiter).collect()
    }

    /// Gives a free slot, if there is one, to the first waiting call and returns it.
    pub(super) fn hand_over(&mut self) -> Option<W> {
        if self.available() == 0 {
            return None;
        }
        let (_, waiter) = self.queue.pop_front()?;
        self.held += 1;
        Some(waiter)
    }

    fn position(&self, id: u64) -> Option<usize> {
        self.queue.binary_search_by_key(&id, |(queued, _)| *queued).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_maximum_of_zero_admits_nobody() {
        let mut engine = Engine::<()>::new(0);
        assert!(!engine.enter());
        assert_eq!(engine.available(), 0);
    }

    #[test]
    fn a_slot_that_is_freed_goes_to_the_first_in_the_queue() {
        let mut engine = Engine::new(1);
        assert!(engine.enter());
        let first = engine.enqueue("first");
        let second = engine.enqueue("second");
        assert_eq!(engine.leave(), Some("first"));
        assert!(engine.waiter(first).is_none());
        assert!(engine.waiter(second).is_some());
        assert!(!engine.enter(), "nobody overtakes the queue");
    }

    #[test]
    fn a_granted_call_that_goes_away_passes_its_slot_on() {
        let mut engine = Engine::new(1);
        engine.enter();
        let first = engine.enqueue("first");
        engine.enqueue("second");
        engine.leave();
        assert_eq!(engine.withdraw(first), Withdrawn::Granted(Some("second")));
        assert_eq!(engine.available(), 0);
    }

    #[test]
    fn a_queued_call_that_goes_away_leaves_the_order_as_it_was() {
        let mut engine = Engine::new(1);
        engine.enter();
        engine.enqueue("first");
        let second = engine.enqueue("second");
        engine.enqueue("third");
        assert_eq!(engine.withdraw(second), Withdrawn::Queued("second"));
        assert_eq!(engine.leave(), Some("first"));
        assert_eq!(engine.leave(), Some("third"));
        assert_eq!(engine.leave(), None);
        assert_eq!(engine.available(), 1);
    }

    #[test]
    fn giving_back_too_often_frees_no_slot_of_a_guard() {
        let mut engine = Engine::<()>::new(2);
        engine.enter();
        engine.enter_untied();
        assert!(engine.leave_untied());
        assert!(!engine.leave_untied());
        assert_eq!(engine.available(), 1);
    }

    #[test]
    fn a_raised_maximum_admits_as_many_as_it_has_room_for() {
        let mut engine = Engine::new(1);
        engine.enter();
        for waiter in 1..=3 {
            engine.enqueue(waiter);
        }
        assert_eq!(engine.set_max(3), [1, 2]);
        assert_eq!(engine.waiting(), 1);
    }

    #[test]
    fn everybody_who_waits_can_be_let_in_above_the_maximum() {
        let mut engine = Engine::new(1);
        engine.enter();
        engine.enqueue("first");
        engine.enqueue("second");
        assert_eq!(engine.admit_all(), ["first", "second"]);
        assert_eq!((engine.waiting(), engine.available()), (0, 0));
        assert!((0..3).all(|_| engine.leave().is_none()));
        assert_eq!(engine.available(), 1);
    }

    #[test]
    fn a_lowered_maximum_takes_effect_as_calls_end() {
        let mut engine = Engine::new(3);
        assert!((0..3).all(|_| engine.enter()));
        engine.enqueue("waiting");
        assert!(engine.set_max(1).is_empty());
        assert_eq!(engine.leave(), None);
        assert_eq!(engine.leave(), None);
        assert_eq!(engine.leave(), Some("waiting"));
        assert_eq!(engine.available(), 0);
    }
}
