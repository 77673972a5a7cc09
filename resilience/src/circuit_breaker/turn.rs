use std::sync::{Arc, atomic::Ordering};

use parking_lot::MutexGuard;

use super::{
    CircuitBreakerEvent, CircuitBreakerEventKind,
    breaker::{Core, Inner},
    engine::Effects,
    word::Word,
};

/// One change of a breaker, from taking its lock to telling what came of it.
///
/// Events are queued under the lock, which gives them their order. Listeners, logs and the timer's
/// task are served by [`finish`](Turn::finish) once the lock is gone.
pub(super) struct Turn<'a> {
    inner: &'a Arc<Inner>,
    pub(super) core: MutexGuard<'a, Core>,
    pub(super) effects: Effects,
    /// How many of the effects are queued.
    queued: usize,
    has_news: bool,
    now: u64,
}

impl<'a> Turn<'a> {
    /// Takes the lock and catches up with the timers that are due.
    pub(super) fn begin(inner: &'a Arc<Inner>, now: u64) -> Self {
        let mut turn = Self {
            inner,
            core: inner.core.lock(),
            effects: Effects::new(),
            queued: 0,
            has_news: false,
            now,
        };
        turn.core.engine.run_due(now, &mut turn.effects);
        turn
    }

    /// Tells listeners of a call, if there are any and the state is one that tells.
    pub(super) fn tell(&mut self, kind: impl FnOnce() -> CircuitBreakerEventKind) {
        if !self.inner.events.is_observed() {
            return;
        }
        self.queue_effects();
        if self.core.engine.state().tells_calls() {
            self.has_news = true;
            self.inner.events.push(CircuitBreakerEvent {
                instance: self.inner.name.clone(),
                at: self.now,
                kind: kind(),
            });
        }
    }

    /// Releases the lock and tells what came about.
    pub(super) fn finish(mut self) {
        self.queue_effects();
        let engine = &self.core.engine;
        let word = Word::new(engine.state(), engine.generation(), engine.config().is_enabled());
        let is_new_stay = self.inner.word().generation() != word.generation();
        if self.inner.word() != word {
            self.inner.word.store(word.0, Ordering::Release);
        }
        let errand = if is_new_stay {
            let timer = engine.next_timer();
            self.core.timer.plan(timer)
        } else {
            None
        };
        let Self { inner, core, effects, has_news, .. } = self;
        drop(core);
        if has_news {
            inner.events.deliver();
        }
        #[cfg(feature = "tracing")]
        super::log::effects(&inner.name, &effects);
        drop(effects);
        if let Some(errand) = errand {
            errand.run(inner);
        }
    }

    fn queue_effects(&mut self) {
        for effect in &self.effects[self.queued..] {
            self.has_news = true;
            self.inner.events.push(CircuitBreakerEvent::of(
                effect,
                self.inner.name.clone(),
                self.now,
            ));
        }
        self.queued = self.effects.len();
    }
}
