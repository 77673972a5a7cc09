//! Work that comes back at intervals, and ends when it is told to.

use std::{future::Future, time::Duration};

use resilience::Resilience;
use tokio::{sync::watch, task::JoinHandle};

/// Sweeps again and again until it is stopped or dropped.
#[derive(Debug)]
pub struct Sweeper {
    stop: watch::Sender<bool>,
    task: JoinHandle<()>,
}

/// Tells a sweep that it is to end. Every sweep looks at it between one piece of work and the next.
#[derive(Debug, Clone)]
pub struct Stop(watch::Receiver<bool>);

impl Sweeper {
    /// Calls `sweep` in the scope of `registry`, each time `every` after the last one has ended, give
    /// or take a fifth: many processes that start together do not ask together for ever.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime.
    pub fn start<F>(
        registry: &Resilience,
        every: Duration,
        mut sweep: impl FnMut(Stop) -> F + Send + 'static,
    ) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let (stop, stopped) = watch::channel(false);
        let stopped = Stop(stopped);
        let scope = registry.clone();
        let task = registry.spawn(async move {
            loop {
                let pause = every.mul_f64(0.8 + 0.4 * fastrand::f64());
                tokio::select! {
                    () = tokio::time::sleep(pause) => {}
                    () = stopped.told() => return,
                }
                // In a task of its own: whatever a sweep dies of, the next one comes.
                if let Err(error) = scope.spawn(sweep(stopped.clone())).await {
                    tracing::error!(%error, "a sweep was cut short");
                }
            }
        });
        Self { stop, task }
    }

    /// Lets the piece of work under way come to its end, and returns then.
    pub async fn stop(self) {
        self.stop.send_replace(true);
        if let Err(error) = self.task.await {
            tracing::error!(%error, "a sweeper had died");
        }
    }
}

impl Stop {
    /// One that is never told, for a sweep that is made by hand.
    pub fn never() -> Self {
        let (stop, stopped) = watch::channel(false);
        drop(stop);
        Self(stopped)
    }

    /// Whether the sweep is to end.
    pub fn is_told(&self) -> bool {
        *self.0.borrow()
    }

    /// Returns once the sweep is to end, also because nobody is left who could say so.
    async fn told(&self) {
        let _ = self.0.clone().wait_for(|told| *told).await;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    };

    use resilience::Config;

    use super::*;

    fn registry() -> Resilience {
        Resilience::from_config(Config::default()).unwrap()
    }

    #[tokio::test(start_paused = true)]
    async fn it_sweeps_at_intervals_that_differ_by_a_fifth_at_most() {
        let (sender, mut times) = tokio::sync::mpsc::unbounded_channel();
        let _sweeper = Sweeper::start(&registry(), Duration::from_mins(1), move |_| {
            let _ = sender.send(tokio::time::Instant::now());
            async {}
        });
        let mut last = tokio::time::Instant::now();
        let mut pauses = Vec::new();
        for _ in 0..20 {
            let time = times.recv().await.unwrap();
            pauses.push((time - last).as_secs_f64());
            last = time;
        }
        assert!(pauses.iter().all(|pause| (47.9..=72.1).contains(pause)), "{pauses:?}");
        assert!(pauses.iter().any(|pause| (pause - pauses[0]).abs() > 0.1), "{pauses:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_stop_waits_for_the_piece_of_work_under_way_and_no_other_begins() {
        let pieces = Arc::new(AtomicU32::new(0));
        let (begun, done) = (Arc::clone(&pieces), Arc::clone(&pieces));
        let sweeper = Sweeper::start(&registry(), Duration::from_secs(1), move |stop| {
            let begun = Arc::clone(&begun);
            async move {
                while !stop.is_told() {
                    tokio::time::sleep(Duration::from_secs(10)).await;
                    begun.fetch_add(1, Ordering::Relaxed);
                }
            }
        });
        tokio::time::sleep(Duration::from_secs(5)).await;
        sweeper.stop().await;
        assert_eq!(done.load(Ordering::Relaxed), 1);
        tokio::time::sleep(Duration::from_secs(100)).await;
        assert_eq!(done.load(Ordering::Relaxed), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn a_sweep_that_panics_is_not_the_last_one() {
        let (sender, mut sweeps) = tokio::sync::mpsc::unbounded_channel();
        let _sweeper = Sweeper::start(&registry(), Duration::from_secs(1), move |_| {
            let sender = sender.clone();
            async move {
                let _ = sender.send(());
                panic!("as the test wants it");
            }
        });
        for _ in 0..3 {
            sweeps.recv().await.unwrap();
        }
    }

    #[tokio::test(start_paused = true)]
    async fn it_ends_with_who_has_it() {
        let (sender, mut sweeps) = tokio::sync::mpsc::unbounded_channel::<()>();
        let sweeper = Sweeper::start(&registry(), Duration::from_secs(1), move |_| {
            let _ = sender.send(());
            async {}
        });
        assert!(sweeps.recv().await.is_some());
        drop(sweeper);
        // The task and what it holds are gone.
        while sweeps.recv().await.is_some() {}
    }
}
