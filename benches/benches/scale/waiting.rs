//! 10,000 calls that wait at once: how often each is woken until it is let in, and in which order they
//! are.

use std::{
    future::Future,
    pin::Pin,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    task::{Context, Poll},
    time::{Duration, Instant},
};

use resilience::{Bulkhead, BulkheadConfig, RateLimiter, RateLimiterConfig, rate_limiter::Refill};
use resilience_bench::body::Failed;
use tokio::task::{JoinSet, yield_now};

use super::report::Report;

const CALLS: usize = 10_000;
const LONG: Duration = Duration::from_mins(1);

/// By interval a tenth is let in every 100 ms, greedily one every 100 µs.
pub(super) fn at_limiters(report: &mut Report) {
    for (refill, name, limit, period) in [
        (Refill::Interval, "rate limiter by interval", 1_000, Duration::from_millis(100)),
        (Refill::Greedy, "rate limiter, greedy", 10_000, Duration::from_secs(1)),
    ] {
        let config = RateLimiterConfig::builder()
            .limit_for_period(limit)
            .limit_refresh_period(period)
            .timeout_duration(LONG)
            .refill(refill);
        let limiter = RateLimiter::new("scale", config.build().expect("in range"));
        if refill == Refill::Greedy {
            limiter.drain(); // or all calls had a permission at once
        }
        let outcome = all_at_once(|entrance| {
            let limiter = limiter.clone();
            async move {
                let body = async {
                    entrance.let_in();
                    Ok::<_, Failed>(())
                };
                limiter.call(body).await.is_ok()
            }
        });
        outcome.tell(report, name);
        outcome.expect_order(report);
    }
}

/// Ten run at once, and each gives its slot back after one turn.
pub(super) fn at_a_bulkhead(report: &mut Report) {
    let config = BulkheadConfig::builder().max_concurrent_calls(10).max_wait_duration(LONG);
    let bulkhead = Bulkhead::new("scale", config.build().expect("in range"));
    let outcome = all_at_once(|entrance| {
        let bulkhead = bulkhead.clone();
        async move {
            let body = async {
                entrance.let_in();
                yield_now().await;
                Ok::<_, Failed>(())
            };
            bulkhead.call(body).await.is_ok()
        }
    });
    outcome.tell(report, "bulkhead");
    outcome.expect_order(report);
}

/// Where the calls are let in.
#[derive(Clone, Default)]
struct Entrance {
    /// The calls, by the order in which they came.
    let_in: Arc<Mutex<Vec<usize>>>,
    polls: Arc<AtomicU64>,
}

/// One call's side of it.
struct Ticket {
    entrance: Entrance,
    number: usize,
}

impl Ticket {
    fn let_in(&self) {
        self.entrance.let_in.lock().expect("no panic").push(self.number);
    }
}

/// Counts the polls of a call until it is let in.
struct Counted<F> {
    call: Pin<Box<F>>,
    number: usize,
    entrance: Entrance,
    is_in: bool,
}

impl<F: Future> Future for Counted<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let this = &mut *self;
        if !this.is_in {
            this.entrance.polls.fetch_add(1, Relaxed);
        }
        let polled = this.call.as_mut().poll(cx);
        this.is_in |= this.entrance.let_in.lock().expect("no panic").last() == Some(&this.number);
        polled
    }
}

struct Outcome {
    succeeded: usize,
    let_in: Vec<usize>,
    /// Of those that had to wait, how often each was woken on average.
    wakes: f64,
    took: Duration,
}

fn all_at_once<F>(call: impl Fn(Ticket) -> F) -> Outcome
where
    F: Future<Output = bool> + Send + 'static,
{
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
    let runtime = runtime.expect("a runtime");
    let entrance = Entrance::default();
    let start = Instant::now();
    let (succeeded, at_once) = runtime.block_on(async {
        let mut calls = JoinSet::new();
        for number in 0..CALLS {
            let ticket = Ticket { entrance: entrance.clone(), number };
            let entrance = entrance.clone();
            calls.spawn(Counted { call: Box::pin(call(ticket)), number, entrance, is_in: false });
        }
        while entrance.polls.load(Relaxed) < CALLS as u64 {
            yield_now().await; // until all have come
        }
        let at_once = entrance.let_in.lock().expect("no panic").len();
        (calls.join_all().await.into_iter().filter(|succeeded| *succeeded).count(), at_once)
    });
    let took = start.elapsed();
    let count = |many: u64| u32::try_from(many).map_or(f64::INFINITY, f64::from);
    let wakes = count(entrance.polls.load(Relaxed) - CALLS as u64);
    let waited = count((CALLS - at_once) as u64);
    let let_in = std::mem::take(&mut *entrance.let_in.lock().expect("no panic"));
    Outcome { succeeded, wakes: wakes / waited, let_in, took }
}

impl Outcome {
    fn tell(&self, report: &mut Report, name: &str) {
        report.expect(
            &format!("10,000 calls at a {name}: succeeded"),
            self.succeeded.to_string(),
            "10000",
            self.succeeded == CALLS,
        );
        report.tell("all were in after", format!("{:.2} s", self.took.as_secs_f64()));
        report.expect(
            "wake-ups until a waiting call is in",
            format!("{:.3}", self.wakes),
            "at most 1.1",
            self.wakes <= 1.1,
        );
    }

    /// By how many later ones a call was overtaken.
    fn expect_order(&self, report: &mut Report) {
        let mut later = Vec::new(); // those in already, in the order in which they came
        let mut overtaken = 0;
        for number in &self.let_in {
            let place = later.partition_point(|other| other < number);
            overtaken = overtaken.max(later.len() - place);
            later.insert(place, *number);
        }
        report.expect(
            "later calls that overtook one, at most",
            overtaken.to_string(),
            "0",
            overtaken == 0,
        );
    }
}
