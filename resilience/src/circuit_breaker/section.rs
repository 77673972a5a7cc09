use std::sync::Arc;

use super::{
    CircuitBreakerEventKind, Totals,
    engine::{Effects, Engine},
    instance::{Guarded, Shared},
    shared::{self, Counts},
    timer::Errand,
    word::Word,
};
#[cfg(feature = "tracing")]
use crate::harmless::harmless;
use crate::{
    aftermath::Aftermath,
    sync::{ShortMutexGuard, atomic::Ordering},
};

/// One change of a breaker, from taking its lock to telling what came of it.
///
/// Events are queued under the lock, which gives them their order. Listeners, logs and the timer's
/// task are served by [`finish`](Section::finish) once the lock is gone.
pub(super) struct Section<'a> {
    shared: &'a Arc<Shared>,
    pub(super) guarded: ShortMutexGuard<'a, Guarded>,
    pub(super) effects: Effects,
    /// How many of the effects are queued.
    queued: usize,
    has_news: bool,
    pub(super) now: u64,
}

impl<'a> Section<'a> {
    /// Takes the lock and catches up with the timers that are due.
    pub(super) fn begin(shared: &'a Arc<Shared>, now: u64) -> Self {
        let mut section = Self {
            shared,
            guarded: shared.guarded.lock(),
            effects: Effects::new(),
            queued: 0,
            has_news: false,
            now,
        };
        section.guarded.collect(&shared.refusals);
        section.guarded.engine.run_due(now, &mut section.effects);
        section
    }

    /// Tells listeners of a call, if there are any and the state is one that tells.
    pub(super) fn tell(&mut self, kind: impl FnOnce() -> CircuitBreakerEventKind) {
        if !self.shared.events.is_observed() {
            return;
        }
        self.queue_effects();
        if self.guarded.engine.state().tells_calls() {
            self.has_news = true;
            let event = self.shared.events.event(&self.shared.name, self.now, kind());
            self.shared.events.push(event);
        }
    }

    /// Releases the lock and tells what came about.
    pub(super) fn finish(self) {
        self.release().tell();
    }

    /// Releases the lock. What came about is still to be told.
    pub(super) fn release(self) -> News<'a> {
        self.release_on(true)
    }

    /// The same on a thread of the store's, which is no place for a timer's task.
    pub(super) fn release_apart(self) -> News<'a> {
        self.release_on(false)
    }

    fn release_on(mut self, can_spawn: bool) -> News<'a> {
        self.queue_effects();
        let changed = self.guarded.engine.take_changed();
        let errand = if changed { self.follow(can_spawn) } else { None };
        let Self { shared, effects, has_news, .. } = self;
        News { shared, effects, deliver: has_news, errand }
    }

    /// Shows what changed to calls that enter without the lock, and to the timer.
    #[cold]
    fn follow(&mut self, can_spawn: bool) -> Option<Errand> {
        let Guarded { engine, timer, totals, sharing, .. } = &mut *self.guarded;
        let config = engine.config();
        let (generation, enabled) = (engine.generation(), config.is_enabled());
        let word = Word::new(engine.state(), generation, enabled, engine.is_calm());
        // Before the word, with which a call reads it.
        self.shared.slow_beyond.store(config.slow_beyond(), Ordering::Relaxed);
        self.shared.open_until.store(engine.open_until(), Ordering::Relaxed);
        // What came in since the section began.
        let refused = self.shared.refusals.take(generation);
        totals.not_permitted += refused;
        if self.shared.word().generation() == generation {
            engine.add_refused(refused);
        }
        self.shared.word.store(word.0, Ordering::Release);
        if let Some(sharing) = sharing {
            sharing.turn(engine, || counted(self.shared, engine, totals));
        }
        timer.plan(generation, engine.next_timer(), can_spawn)
    }

    /// What the breaker has counted since it was made, as far as others should hear of it.
    pub(super) fn totals(&self) -> shared::Totals {
        let Guarded { engine, totals, .. } = &*self.guarded;
        let counts = counted(self.shared, engine, totals);
        shared::Totals { counts, refused: totals.not_permitted }
    }

    fn queue_effects(&mut self) {
        for effect in &self.effects[self.queued..] {
            self.has_news = true;
            let (at, kind) = CircuitBreakerEventKind::of(effect, self.now);
            let event = self.shared.events.event(&self.shared.name, at, kind);
            self.shared.events.push(event);
        }
        self.queued = self.effects.len();
    }
}

/// Calls that have ended in the stay that let them in, since the breaker was made.
fn counted(shared: &Shared, engine: &Engine, totals: &Totals) -> Counts {
    let calls = shared.durations.successful() + totals.failed;
    Counts { calls, failed: totals.failed, slow: totals.slow }.since(engine.late())
}

/// What is to be told once no lock is held.
#[must_use = "listeners, logs and the timer's task wait for it"]
pub(super) struct News<'a> {
    shared: &'a Arc<Shared>,
    effects: Effects,
    /// Whether events are queued.
    deliver: bool,
    errand: Option<Errand>,
}

impl News<'_> {
    pub(super) fn is_any(&self) -> bool {
        self.deliver || !self.effects.is_empty() || self.errand.is_some()
    }

    fn tell(self) {
        let Self { shared, effects, deliver, errand } = self;
        if deliver {
            shared.events.deliver();
        }
        #[cfg(feature = "tracing")]
        harmless(|| super::log::effects(&shared.name, &effects));
        drop(effects);
        if let Some(errand) = errand {
            errand.run(shared);
        }
    }

    /// Tells when the result is dropped.
    pub(super) fn later(self) -> Aftermath {
        let Self { shared, effects, deliver, errand } = self;
        let shared = Arc::clone(shared);
        Aftermath::new(move || News { shared: &shared, effects, deliver, errand }.tell())
    }
}
