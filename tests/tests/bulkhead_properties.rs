//! What a bulkhead never does, whatever happens to the calls in it.

use std::{
    collections::VecDeque,
    future::Future,
    pin::Pin,
    task::{Context, Poll, Waker},
    time::Duration,
};

use proptest::prelude::*;
use resilience::{
    Bulkhead, BulkheadConfig, BulkheadFull, Clock, ManualClock, ThreadPoolBulkhead,
    ThreadPoolBulkheadConfig, bulkhead::Permit,
};

const MAX_WAIT: Duration = Duration::from_millis(10);

#[derive(Debug, Clone)]
enum Step {
    Try,
    Wait,
    /// Polls all that wait, first come first.
    Poll,
    /// Ends one of the running calls.
    End(prop::sample::Index),
    /// Drops one of the waiting calls.
    Cancel(prop::sample::Index),
    Advance(Duration),
    Resize(u32),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        2 => Just(Step::Try),
        4 => Just(Step::Wait),
        3 => Just(Step::Poll),
        3 => any::<prop::sample::Index>().prop_map(Step::End),
        2 => any::<prop::sample::Index>().prop_map(Step::Cancel),
        1 => (0_u64..12).prop_map(|ms| Step::Advance(Duration::from_millis(ms))),
        1 => (0_u32..6).prop_map(Step::Resize),
    ];
    prop::collection::vec(step, 1..150)
}

type Acquire = Pin<Box<dyn Future<Output = Result<Permit, BulkheadFull>>>>;

struct Run {
    bulkhead: Bulkhead,
    hand: ManualClock,
    waiting: VecDeque<Acquire>,
    running: Vec<Permit>,
    /// The largest maximum under which a running call was let in.
    bound: usize,
}

impl Run {
    fn new(max: u32) -> Self {
        let (clock, hand) = Clock::manual(Duration::ZERO);
        let config = BulkheadConfig::builder()
            .max_concurrent_calls(max)
            .max_wait_duration(MAX_WAIT)
            .build()
            .expect("the strategies stay in range");
        Self {
            bulkhead: Bulkhead::with_clock("property", config, clock),
            hand,
            waiting: VecDeque::new(),
            running: Vec::new(),
            bound: max as usize,
        }
    }

    fn step(&mut self, step: &Step) {
        match step {
            Step::Try => self.running.extend(self.bulkhead.try_acquire().ok()),
            Step::Wait => {
                let bulkhead = self.bulkhead.clone();
                self.waiting.push_back(Box::pin(async move { bulkhead.acquire().await }));
                self.poll();
            }
            Step::Poll => self.poll(),
            Step::End(index) if !self.running.is_empty() => {
                let index = index.index(self.running.len());
                drop(self.running.swap_remove(index));
            }
            Step::Cancel(index) if !self.waiting.is_empty() => {
                drop(self.waiting.remove(index.index(self.waiting.len())));
            }
            Step::End(_) | Step::Cancel(_) => {}
            Step::Advance(by) => self.hand.advance(*by),
            Step::Resize(max) => {
                self.bulkhead.change_max_concurrent_calls(*max);
                self.bound = self.bound.max(*max as usize);
            }
        }
    }

    fn poll(&mut self) {
        let mut context = Context::from_waker(Waker::noop());
        let running = &mut self.running;
        self.waiting.retain_mut(|call| match call.as_mut().poll(&mut context) {
            Poll::Ready(answer) => {
                running.extend(answer.ok());
                false
            }
            Poll::Pending => true,
        });
    }
}

proptest! {
    #[test]
    fn no_more_run_than_ever_allowed_and_no_slot_is_lost(max in 0_u32..5, steps in steps()) {
        let mut run = Run::new(max);
        for step in &steps {
            run.step(step);
            prop_assert!(run.running.len() <= run.bound);
            let free = run.bulkhead.available_concurrent_calls();
            prop_assert!(free == 0 || run.bulkhead.waiting() == 0, "a free slot and a queue");
        }
        run.waiting.clear();
        run.running.clear();
        let metrics = run.bulkhead.metrics();
        prop_assert_eq!(metrics.available_concurrent_calls, metrics.max_concurrent_calls);
        prop_assert_eq!(metrics.waiting, 0);
        prop_assert_eq!(metrics.permitted, metrics.finished);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn calls_that_are_aborted_from_other_threads_cost_no_slot() {
    let config = BulkheadConfig::builder()
        .max_concurrent_calls(3)
        .max_wait_duration(Duration::from_hours(1))
        .build()
        .unwrap();
    let bulkhead = Bulkhead::new("property", config);
    let calls: Vec<_> = (0..2_000)
        .map(|number| {
            let bulkhead = bulkhead.clone();
            tokio::spawn(async move {
                let call = bulkhead.call(async {
                    for _ in 0..number % 7 {
                        tokio::task::yield_now().await;
                    }
                    Ok::<_, ()>(())
                });
                call.await
            })
        })
        .collect();
    for call in calls.iter().skip(1).step_by(2) {
        call.abort();
        tokio::task::yield_now().await;
    }
    for call in calls {
        // An aborted call may have ended before.
        let _ = call.await;
    }
    let metrics = bulkhead.metrics();
    assert_eq!(metrics.available_concurrent_calls, 3);
    assert_eq!((metrics.waiting, metrics.rejected), (0, 0));
    assert_eq!(metrics.permitted, metrics.finished);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn every_call_on_a_thread_pool_ends_is_refused_or_leaves_the_queue() {
    const CALLS: u64 = 3_000;
    let config = ThreadPoolBulkheadConfig::builder()
        .core_thread_pool_size(1)
        .max_thread_pool_size(3)
        .queue_capacity(4)
        .keep_alive_duration(Duration::ZERO)
        .build()
        .unwrap();
    let pool = ThreadPoolBulkhead::new("property", config);
    let calls: Vec<_> = (0..CALLS)
        .map(|number| {
            let pool = pool.clone();
            tokio::spawn(async move {
                let mut call = Box::pin(pool.call(move || {
                    std::thread::yield_now();
                    assert!(number % 11 != 0, "some calls panic");
                    Ok::<_, ()>(())
                }));
                if number % 3 == 0 {
                    // Begun, then dropped: in the queue or on a thread.
                    let _ = std::future::poll_fn(|cx| Poll::Ready(call.as_mut().poll(cx))).await;
                    return;
                }
                let _ = call.await;
            })
        })
        .collect();
    for call in calls {
        let ended = tokio::time::timeout(Duration::from_mins(1), call).await;
        // Some panic, and all end.
        let _ = ended.unwrap();
    }
    // Calls that were dropped while they ran may run still.
    while pool.metrics().active_thread_count > 0 {
        tokio::task::yield_now().await;
    }
    let metrics = pool.metrics();
    assert_eq!(metrics.finished + metrics.rejected + metrics.cancelled, CALLS);
    assert_eq!((metrics.permitted, metrics.queue_depth), (metrics.finished, 0));
    assert!(metrics.thread_pool_size <= 3);
    assert_eq!(pool.call(|| Ok::<_, ()>(1)).await, Ok(1));
}
