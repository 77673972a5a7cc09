//! Callers that come back as soon as they are answered.

use std::time::{Duration, Instant};

use tokio::task::JoinSet;

const WARM_UP: Duration = Duration::from_millis(200);
const LASTS: Duration = Duration::from_secs(1);

#[derive(Clone, Copy)]
pub(super) struct Measured {
    pub(super) per_second: f64,
    /// What half of the calls did not exceed.
    pub(super) p50: Duration,
    pub(super) p99: Duration,
}

pub(super) async fn load<F>(
    callers: usize,
    call: impl Fn() -> F + Clone + Send + Sync + 'static,
) -> Measured
where
    F: Future<Output = ()> + Send + 'static,
{
    let start = Instant::now() + WARM_UP;
    let mut running = JoinSet::new();
    for _ in 0..callers {
        let call = call.clone();
        running.spawn(async move {
            let mut took = Vec::new();
            loop {
                let begun = Instant::now();
                call().await;
                let ended = Instant::now();
                if ended > start + LASTS {
                    return took;
                }
                if begun >= start {
                    took.push(ended - begun);
                }
                // A call that needs no answer of anybody must not keep the others from theirs.
                tokio::task::yield_now().await;
            }
        });
    }
    let mut took: Vec<Duration> = running.join_all().await.into_iter().flatten().collect();
    took.sort_unstable();
    let at = |percent: usize| took[(took.len() - 1) * percent / 100];
    let calls = u32::try_from(took.len()).map_or(f64::INFINITY, f64::from);
    Measured { per_second: calls / LASTS.as_secs_f64(), p50: at(50), p99: at(99) }
}
