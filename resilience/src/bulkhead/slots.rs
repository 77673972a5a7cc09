use std::{
    ops::{Deref, DerefMut},
    sync::Arc,
    task::Waker,
};

use super::{config::BulkheadConfig, engine::Engine};
use crate::{
    counter::ThreadCounter,
    sync::{
        Apart, ShortMutex, ShortMutexGuard,
        atomic::{AtomicU64, Ordering},
    },
};

/// The slots of a bulkhead: a call takes one and frees it by a change of one word. Where there is more to
/// do, such as to queue or to hand a slot over, a lock is taken, and the word says that all have to.
pub(super) struct Slots {
    word: Apart<AtomicU64>,
    state: ShortMutex<State>,
    /// What calls came to for which the word was enough.
    permitted: ThreadCounter,
    rejected: ThreadCounter,
    finished: ThreadCounter,
    /// Whether calls may use the word. Of instances for keys there may be very many, and their counts
    /// are under the lock.
    by_word: bool,
}

/// What the lock guards.
pub(super) struct State {
    /// A waiting call has no waker until its first poll.
    pub(super) engine: Engine<Option<Waker>>,
    pub(super) config: Arc<BulkheadConfig>,
    pub(super) permitted: u64,
    pub(super) rejected: u64,
    pub(super) finished: u64,
    pub(super) cancelled: u64,
}

impl State {
    pub(super) fn count_entry(&mut self, admitted: bool) {
        if admitted {
            self.permitted += 1;
        } else {
            self.rejected += 1;
        }
    }
}

/// What a call is told that asks the word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answer {
    /// It has a slot, and is counted.
    Taken,
    /// No slot is free and none is waited for; it is counted.
    Refused,
    /// It has to ask by the lock.
    Unknown,
}

/// How many slots there are, how many of them are taken and whether calls wait where all are, or that only
/// who has the lock may know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Word(u64);

impl Word {
    const LOCKED: Self = Self(1 << 63);
    const ONE: u64 = 1 << 32;
    const WAITS: u64 = 1 << 31;
    const MOST: u64 = Self::WAITS - 1;

    /// The lock's, where the word has no room for that many.
    fn of(taken: u64, max: u32, waits: bool) -> Self {
        if taken > Self::MOST || u64::from(max) > Self::MOST {
            return Self::LOCKED;
        }
        let waits = if waits { Self::WAITS } else { 0 };
        Self(taken * Self::ONE + waits + u64::from(max))
    }

    /// How many slots are taken; `None` where the lock has it.
    fn taken(self) -> Option<u64> {
        (self != Self::LOCKED).then_some(self.0 / Self::ONE)
    }

    /// With one more slot taken, if one is free.
    fn with_one_more(self) -> Option<Self> {
        (self.taken()? < self.max()).then_some(Self(self.0 + Self::ONE))
    }

    /// Whether a call is refused at once.
    fn refuses(self) -> bool {
        let is_full = self.taken().is_some_and(|taken| taken >= self.max());
        is_full && self.0 & Self::WAITS == 0
    }

    /// Where it is not the lock's.
    fn max(self) -> u64 {
        self.0 & Self::MOST
    }

    /// With one slot less taken.
    fn with_one_less(self) -> Option<Self> {
        (self.taken()? > 0).then(|| Self(self.0 - Self::ONE))
    }
}

impl Slots {
    pub(super) fn new(config: Arc<BulkheadConfig>, by_word: bool) -> Self {
        let counter = if by_word { ThreadCounter::new } else { ThreadCounter::small };
        let slots = Self {
            word: Apart(AtomicU64::new(Word::LOCKED.0)),
            state: ShortMutex::new(State {
                engine: Engine::new(config.max_concurrent_calls()),
                config,
                permitted: 0,
                rejected: 0,
                finished: 0,
                cancelled: 0,
            }),
            permitted: counter(),
            rejected: counter(),
            finished: counter(),
            by_word,
        };
        drop(slots.lock());
        slots
    }

    /// Takes a free slot and counts the call, if the word is enough for it.
    #[inline]
    pub(super) fn take_quickly(&self) -> bool {
        let taken = self.change(Word::with_one_more).is_ok();
        if taken {
            self.permitted.increment();
        }
        taken
    }

    /// The same for a call that is refused where it gets no slot.
    #[inline]
    pub(super) fn ask_quickly(&self) -> Answer {
        match self.change(Word::with_one_more) {
            Ok(()) => {
                self.permitted.increment();
                Answer::Taken
            }
            Err(word) if word.refuses() => {
                self.rejected.increment();
                Answer::Refused
            }
            Err(_) => Answer::Unknown,
        }
    }

    /// Frees a slot and counts the end of the call, if the word is enough for it.
    #[inline]
    pub(super) fn free_quickly(&self) -> bool {
        let freed = self.change(Word::with_one_less).is_ok();
        if freed {
            self.finished.increment();
        }
        freed
    }

    /// Gives the word that was not to be changed.
    #[inline]
    fn change(&self, change: impl Fn(Word) -> Option<Word>) -> Result<(), Word> {
        let change = |word| change(Word(word)).map(|word| word.0);
        // Who takes a slot sees what was done in it before.
        let changed = self.word.fetch_update(Ordering::AcqRel, Ordering::Relaxed, change);
        changed.map(drop).map_err(Word)
    }

    /// Takes the lock. Until it is released, the word changes nothing.
    pub(super) fn lock(&self) -> Locked<'_> {
        let mut state = self.state.lock();
        if self.word.load(Ordering::Relaxed) != Word::LOCKED.0 {
            let word = Word(self.word.swap(Word::LOCKED.0, Ordering::AcqRel));
            if let Some(taken) = word.taken() {
                state.engine.set_taken(taken);
            }
        }
        Locked { slots: self, state }
    }
}

/// The slots of a bulkhead while its lock is held.
pub(super) struct Locked<'a> {
    slots: &'a Slots,
    state: ShortMutexGuard<'a, State>,
}

impl Locked<'_> {
    /// Calls let through.
    pub(super) fn permitted(&self) -> u64 {
        self.state.permitted + self.slots.permitted.get()
    }

    /// Calls that were refused.
    pub(super) fn rejected(&self) -> u64 {
        self.state.rejected + self.slots.rejected.get()
    }

    /// Calls that have ended.
    pub(super) fn finished(&self) -> u64 {
        self.state.finished + self.slots.finished.get()
    }
}

impl Deref for Locked<'_> {
    type Target = State;

    fn deref(&self) -> &State {
        &self.state
    }
}

impl DerefMut for Locked<'_> {
    fn deref_mut(&mut self) -> &mut State {
        &mut self.state
    }
}

impl Drop for Locked<'_> {
    /// Goes on by the word, unless somebody waits or all calls are let in.
    fn drop(&mut self) {
        let State { engine, config, .. } = &*self.state;
        if self.slots.by_word && config.is_enabled() && engine.waiting() == 0 {
            let waits = !config.max_wait_duration().is_zero();
            let word = Word::of(engine.taken(), engine.max(), waits);
            self.slots.word.store(word.0, Ordering::Release);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_counts_from_none_to_all() {
        let mut word = Word::of(0, 2, false);
        assert_eq!(word.with_one_less(), None);
        for taken in 1..=2 {
            assert!(!word.refuses());
            word = word.with_one_more().unwrap();
            assert_eq!(word, Word::of(taken, 2, false));
        }
        assert_eq!(word.with_one_more(), None);
        assert!(word.refuses());
        assert_eq!(word.with_one_less(), Some(Word::of(1, 2, false)));
    }

    #[test]
    fn a_call_that_may_wait_is_not_refused_by_the_word() {
        let word = Word::of(2, 2, true);
        assert_eq!(word.with_one_more(), None);
        assert!(!word.refuses());
        assert_eq!(word.with_one_less(), Some(Word::of(1, 2, true)));
    }

    #[test]
    fn more_may_be_taken_than_there_are() {
        let word = Word::of(3, 1, false);
        assert_eq!(word.with_one_more(), None);
        assert_eq!(word.with_one_less(), Some(Word::of(2, 1, false)));
    }

    #[test]
    fn what_the_word_has_no_room_for_is_the_locks() {
        assert_eq!(Word::of(1 << 31, 5, false), Word::LOCKED);
        assert_eq!(Word::of(0, 1 << 31, true), Word::LOCKED);
        let most = Word::of(Word::MOST, i32::MAX as u32, true);
        assert_eq!((most.taken(), most.with_one_more()), (Some(Word::MOST), None));
        assert_eq!(Word::LOCKED.with_one_more(), None);
        assert_eq!(Word::LOCKED.with_one_less(), None);
        assert!(!Word::LOCKED.refuses());
    }

    #[test]
    fn a_lock_takes_over_what_the_word_has_counted_and_gives_it_back() {
        let config = BulkheadConfig::builder().max_concurrent_calls(3).build().unwrap();
        let slots = Slots::new(Arc::new(config), true);
        assert!(slots.take_quickly() && slots.take_quickly());
        let mut locked = slots.lock();
        assert!(!slots.take_quickly() && !slots.free_quickly());
        assert_eq!(slots.ask_quickly(), Answer::Unknown);
        assert_eq!(locked.engine.available(), 1);
        locked.engine.enter();
        drop(locked);
        assert_eq!(slots.ask_quickly(), Answer::Refused);
        assert!(slots.free_quickly());
        assert_eq!(slots.ask_quickly(), Answer::Taken);
        let locked = slots.lock();
        assert_eq!([locked.permitted(), locked.rejected(), locked.finished()], [3, 1, 1]);
    }
}
