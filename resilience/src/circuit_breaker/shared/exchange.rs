use std::{
    sync::{Arc, Weak},
    time::Duration,
};

use super::super::{instance::Shared, section::Section};
use crate::{
    aftermath::Aftermath,
    store::{Regular, Reply, Turn, Undecided, tell},
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
        let Some(result) = result else {
            // The thread of the store must not run the code of listeners.
            tell(news);
            return None;
        };
        Some((result, news))
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

#[cfg(all(test, feature = "redis"))]
mod tests {
    use std::{thread::sleep, time::Instant};

    use crate::{
        CircuitBreaker, CircuitBreakerConfig,
        circuit_breaker::Scope,
        store::{Store, StoreConfig},
    };

    use super::*;

    const SYNC: Duration = Duration::from_millis(50);

    fn asked(store: &Store) -> u64 {
        let metrics = store.metrics();
        metrics.decided + metrics.all_failed()
    }

    #[test]
    fn settings_lead_a_breaker_to_the_store_and_away_from_it() {
        let config = |scope| {
            let config = CircuitBreakerConfig::builder().sync_interval(SYNC);
            config.scope(scope).build().unwrap()
        };
        // Nobody is there, which is told as well.
        let store = StoreConfig::builder(["redis://127.0.0.1:1"], "shop").build().unwrap();
        let store = Store::open(store).unwrap();
        let breaker = CircuitBreaker::with_store("pay", config(Scope::Local), &store);
        sleep(SYNC * 2);
        assert_eq!(asked(&store), 0);
        for _ in 0..2 {
            let before = asked(&store);
            drop(breaker.reconfigure(config(Scope::Global)));
            let begun = Instant::now();
            while asked(&store) < before + 3 {
                assert!(begun.elapsed() < Duration::from_secs(10));
                sleep(SYNC / 10);
            }
            drop(breaker.reconfigure(config(Scope::Local)));
            // One may be on its way.
            sleep(SYNC * 4);
            let before = asked(&store);
            sleep(SYNC * 4);
            assert_eq!(asked(&store), before);
        }
    }

    #[test]
    fn a_pause_is_up_to_a_fifth_shorter() {
        let pauses = [(); 1_000].map(|()| spread(SYNC));
        assert!(pauses.iter().all(|pause| (SYNC * 4 / 5..=SYNC).contains(pause)));
        let half = SYNC * 9 / 10;
        let shorter = pauses.iter().filter(|pause| **pause < half).count();
        assert!((400..600).contains(&shorter), "{shorter} of a thousand");
    }
}
