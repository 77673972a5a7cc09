use std::{
    sync::{Arc, Weak},
    time::Duration,
};

use super::super::{instance::Shared, section::Section};
use crate::{
    aftermath::Aftermath,
    store::{Regular, Reply, Turn, Undecided},
};

/// Has a breaker speak with its store again and again, for as long as both want to.
pub(in super::super) struct Exchange {
    breaker: Weak<Shared>,
    /// The breaker goes by another name there once its settings have led it away and back.
    node: String,
}

impl Exchange {
    pub(in super::super) fn new(breaker: &Arc<Shared>, node: &str) -> Self {
        Self { breaker: Arc::downgrade(breaker), node: node.to_owned() }
    }

    /// Changes the breaker if it still shares its state as that node.
    fn with<R>(
        &self,
        change: impl FnOnce(&mut super::Sharing, &mut Section<'_>) -> R,
    ) -> Option<(R, Option<Aftermath>)> {
        let breaker = self.breaker.upgrade()?;
        let mut section = Section::begin(&breaker, breaker.clock.now());
        let mut sharing = section.guarded.sharing.take_if(|sharing| sharing.node == self.node);
        let result = sharing.as_mut().map(|sharing| change(sharing, &mut section));
        if sharing.is_some() {
            section.guarded.sharing = sharing;
        }
        // What is due by time alone comes with the next exchange.
        let news = section.release_apart();
        let news = news.is_any().then(|| news.later());
        result.map(|result| (result, news))
    }
}

impl Regular for Exchange {
    fn ask(&mut self) -> Option<Turn> {
        let ((answer, pause), news) = self.with(|sharing, section| {
            let totals = section.totals();
            let now = section.now;
            let engine = &mut section.guarded.engine;
            let answer = sharing.ask(engine, totals, now);
            (answer, engine.config().sync_interval())
        })?;
        Some(Turn { answer, pause: spread(pause), news })
    }

    fn hear(&mut self, answer: &Result<Reply, Undecided>) -> Option<Aftermath> {
        let ((), news) = self.with(|sharing, section| {
            let Section { guarded, effects, .. } = section;
            sharing.hear(answer, &mut guarded.engine, effects);
        })?;
        news
    }
}

/// A pause at most as long, so that processes do not all ask at once.
fn spread(pause: Duration) -> Duration {
    const LEAST: f64 = 0.8;
    pause.mul_f64(LEAST + (1.0 - LEAST) * fastrand::f64())
}
