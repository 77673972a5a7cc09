//! Runs futures on one thread, in an order that is always the same.

use std::{
    collections::VecDeque,
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, Wake, Waker},
};

use crate::sync::plain::Mutex;

type Task<T> = Pin<Box<dyn Future<Output = T>>>;

/// The futures under way, by number. Those that were woken go on in the order of their waking.
pub(super) struct Executor<T> {
    tasks: Vec<Option<(Task<T>, Waker)>>,
    /// Numbers of finished ones, to be used again.
    free: Vec<usize>,
    woken: Arc<Woken>,
}

#[derive(Default)]
struct Woken {
    queue: Mutex<VecDeque<usize>>,
}

struct TaskWaker {
    task: usize,
    woken: Arc<Woken>,
}

impl Wake for TaskWaker {
    fn wake(self: Arc<Self>) {
        self.woken.queue.lock().push_back(self.task);
    }
}

impl<T> Executor<T> {
    pub(super) fn new() -> Self {
        Self { tasks: Vec::new(), free: Vec::new(), woken: Arc::default() }
    }

    /// Takes a future in; it is polled with the next [`run`](Executor::run).
    pub(super) fn spawn(&mut self, future: impl Future<Output = T> + 'static) {
        let task = self.free.pop().unwrap_or_else(|| {
            self.tasks.push(None);
            self.tasks.len() - 1
        });
        let waker = Waker::from(Arc::new(TaskWaker { task, woken: Arc::clone(&self.woken) }));
        waker.wake_by_ref();
        self.tasks[task] = Some((Box::pin(future), waker));
    }

    /// Polls until all that are left wait for something; what is ready goes to `done`.
    pub(super) fn run(&mut self, mut done: impl FnMut(T)) {
        loop {
            // Apart, so that the lock is free while a task wakes another one.
            let next = self.woken.queue.lock().pop_front();
            let Some(task) = next else { return };
            // One that was woken more often than it needed may be finished.
            let Some((future, waker)) = &mut self.tasks[task] else { continue };
            let polled = future.as_mut().poll(&mut Context::from_waker(waker));
            if let Poll::Ready(value) = polled {
                self.tasks[task] = None;
                self.free.push(task);
                done(value);
            }
        }
    }

    /// How many are under way.
    pub(super) fn len(&self) -> usize {
        self.tasks.len() - self.free.len()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::Clock;

    #[test]
    fn futures_end_in_the_order_of_their_times() {
        let (clock, hand) = Clock::manual(Duration::ZERO);
        let mut executor = Executor::new();
        for seconds in [3, 1, 2] {
            let clock = clock.clone();
            executor.spawn(async move {
                clock.sleep(Duration::from_secs(seconds)).await;
                seconds
            });
        }
        let mut ended = Vec::new();
        executor.run(|seconds| ended.push(seconds));
        while let Some(due) = hand.next_due() {
            hand.advance(Duration::from_nanos(due - clock.now()));
            executor.run(|seconds| ended.push(seconds));
        }
        assert_eq!(ended, [1, 2, 3]);
        assert_eq!(executor.len(), 0);
    }
}
