use std::{
    collections::{BTreeMap, BTreeSet},
    future::Future,
    pin::Pin,
    sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel},
    task::{Context, Poll, Waker},
    time::Duration,
};

use resilience::{
    CallError, Clock, ThreadPoolBulkhead,
    bulkhead::{BulkheadEvent, BulkheadEventKind},
};
use serde_json::Value;

use crate::conformance::{Fields, Mismatch};

/// How long a thread may take before the replay gives it up.
const PATIENCE: Duration = Duration::from_secs(30);

type Call = Pin<Box<dyn Future<Output = Result<(), CallError<()>>>>>;

/// Replays with real threads and calls that run until they are told to end.
pub(super) fn replay(scenario: &Value) -> Result<(), Mismatch> {
    let config = super::thread_pool_config(&scenario["config"])
        .ok_or_else(|| Mismatch::new(scenario, "the configuration was refused"))?;
    let clock = Clock::manual(Duration::ZERO).0;
    let mut replay = Replay::new(ThreadPoolBulkhead::with_clock("recorded", config, clock));
    for (index, step) in scenario.list("steps").iter().enumerate() {
        replay.step(scenario, step).map_err(|mismatch| mismatch.at(index))?;
    }
    Ok(())
}

struct Replay {
    pool: ThreadPoolBulkhead,
    /// Calls that were let in: dropping a queued one would take it out of the queue.
    calls: Vec<Call>,
    /// Dropping one ends its call.
    ends: BTreeMap<u64, Sender<()>>,
    running: BTreeSet<u64>,
    begin: Sender<u64>,
    starts: Receiver<u64>,
    finished: Receiver<()>,
}

impl Replay {
    fn new(pool: ThreadPoolBulkhead) -> Self {
        let (begin, starts) = channel();
        let (finish, finished) = channel();
        let listener = move |event: &BulkheadEvent| {
            if event.kind == BulkheadEventKind::CallFinished {
                // Fails once the replay is over.
                let _ = finish.send(());
            }
        };
        pool.events().subscribe(listener).forever();
        Self {
            pool,
            calls: Vec::new(),
            ends: BTreeMap::new(),
            running: BTreeSet::new(),
            begin,
            starts,
            finished,
        }
    }

    fn step(&mut self, scenario: &Value, step: &Value) -> Result<(), Mismatch> {
        let task = step.natural("task").unwrap_or_default();
        match step.text("op") {
            "submit" => {
                let before = self.pool.metrics().queue_depth;
                let accepted = self.submit(task);
                let queued = self.pool.metrics().queue_depth > before;
                let recorded = step["accepted"].as_bool();
                Mismatch::check(scenario, "accepted", &recorded, &Some(accepted))?;
                Mismatch::check(scenario, "queued", &step["queued"].as_bool(), &Some(queued))?;
            }
            "finish" => {
                self.ends.remove(&task);
                self.running.remove(&task);
                let heard = self.finished.recv_timeout(PATIENCE);
                heard.map_err(|error| late(scenario, error))?;
            }
            op => return Err(Mismatch::new(scenario, format!("unknown op {op}"))),
        }
        self.check(scenario, step)
    }

    fn submit(&mut self, task: u64) -> bool {
        let (end, ended) = channel::<()>();
        let begin = self.begin.clone();
        let pool = self.pool.clone();
        let mut call: Call = Box::pin(async move {
            pool.call(move || {
                let told = begin.send(task).is_ok();
                // Ends with the sender.
                while told && ended.recv().is_ok() {}
                Ok(())
            })
            .await
        });
        let first = call.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        if matches!(first, Poll::Ready(Err(CallError::Resilience(_)))) {
            return false;
        }
        self.calls.push(call);
        self.ends.insert(task, end);
        true
    }

    fn check(&mut self, scenario: &Value, step: &Value) -> Result<(), Mismatch> {
        let running: BTreeSet<u64> =
            step.list("running").iter().filter_map(Value::as_u64).collect();
        while self.running.len() < running.len() {
            let task = self.starts.recv_timeout(PATIENCE).map_err(|error| late(scenario, error))?;
            self.running.insert(task);
        }
        self.running.extend(self.starts.try_iter());
        Mismatch::check(scenario, "running", &running, &self.running)?;

        let metrics = self.pool.metrics();
        for (field, actual) in [
            ("queue_depth", metrics.queue_depth),
            ("remaining_queue_capacity", metrics.remaining_queue_capacity),
            ("queue_capacity", metrics.queue_capacity),
            ("thread_pool_size", metrics.thread_pool_size),
            ("active", metrics.active_thread_count),
            ("available_threads", metrics.available_thread_count),
        ] {
            Mismatch::check(scenario, field, &step.natural(field), &Some(actual))?;
        }
        Ok(())
    }
}

fn late(scenario: &Value, error: RecvTimeoutError) -> Mismatch {
    Mismatch::new(scenario, format!("a thread did not answer: {error}"))
}
