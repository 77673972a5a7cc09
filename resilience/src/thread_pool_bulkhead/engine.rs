//! Threads, idle threads and the queue: a pure state machine, which starts no thread itself.

use std::collections::VecDeque;

/// How large the pool may become.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Limits {
    pub(super) core: usize,
    pub(super) max: usize,
    pub(super) capacity: usize,
}

/// The state of a pool. `T` is what a thread runs.
///
/// A thread that is counted as idle waits for a task; one that a task is assigned to is counted as
/// active from then on, although it still has to wake up, or to be started. So the threads that wait or
/// start are always as many as `idle` and `assigned` together, and whichever wakes first may take any
/// assigned task.
#[derive(Debug)]
pub(super) struct Engine<T> {
    limits: Limits,
    size: usize,
    idle: usize,
    assigned: VecDeque<(u64, T)>,
    queue: VecDeque<(u64, T)>,
    next_id: u64,
}

/// Where a task went.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Submission<T> {
    /// Assigned to a thread that has to be started.
    Start { id: u64 },
    /// Assigned to an idle thread, which has to be woken.
    Wake { id: u64 },
    /// In the queue.
    Queued { id: u64 },
    /// Nowhere: there is no room.
    Rejected(T),
}

/// What a thread does after a task.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Next<T> {
    Run(T),
    Wait,
    End,
}

impl<T> Engine<T> {
    pub(super) fn new(limits: Limits) -> Self {
        let (assigned, queue) = (VecDeque::new(), VecDeque::new());
        Self { limits, size: 0, idle: 0, assigned, queue, next_id: 0 }
    }

    pub(super) fn limits(&self) -> Limits {
        self.limits
    }

    pub(super) fn size(&self) -> usize {
        self.size
    }

    pub(super) fn active(&self) -> usize {
        self.size - self.idle
    }

    pub(super) fn queued(&self) -> usize {
        self.queue.len()
    }

    pub(super) fn submit(&mut self, task: T) -> Submission<T> {
        let id = self.next_id;
        self.next_id += 1;
        if self.size < self.limits.core {
            self.start_for(id, task)
        } else if self.idle > 0 {
            self.idle -= 1;
            self.assigned.push_back((id, task));
            Submission::Wake { id }
        } else if self.queue.len() < self.limits.capacity {
            self.queue.push_back((id, task));
            Submission::Queued { id }
        } else if self.size < self.limits.max {
            self.start_for(id, task)
        } else {
            Submission::Rejected(task)
        }
    }

    fn start_for(&mut self, id: u64, task: T) -> Submission<T> {
        self.size += 1;
        self.assigned.push_back((id, task));
        Submission::Start { id }
    }

    /// The system started no thread for the task of this id. Returns the task, unless another thread
    /// has taken it.
    pub(super) fn start_failed(&mut self, id: u64) -> Option<T> {
        self.size -= 1;
        let task = remove(&mut self.assigned, id);
        if task.is_none() {
            self.idle -= 1;
        }
        task
    }

    /// As [`start_failed`](Engine::start_failed), for a task that had been queued: it goes back to
    /// the head of the queue, for one of the threads that are there. Of several, the latest first.
    pub(super) fn requeue(&mut self, id: u64) {
        if let Some(task) = self.start_failed(id) {
            self.queue.push_front((id, task));
        }
    }

    /// The task for a thread that was started or woken.
    pub(super) fn take(&mut self) -> Option<T> {
        self.assigned.pop_front().map(|(_, task)| task)
    }

    /// What a thread that has ended a task does next.
    pub(super) fn next(&mut self) -> Next<T> {
        if self.size > self.limits.max {
            self.size -= 1;
            return Next::End;
        }
        if let Some((_, task)) = self.queue.pop_front() {
            return Next::Run(task);
        }
        self.idle += 1;
        Next::Wait
    }

    /// Whether a waiting thread that [`take`](Engine::take) gave nothing may end after the keep-alive
    /// time.
    pub(super) fn is_surplus(&self) -> bool {
        self.size > self.limits.core
    }

    /// A waiting thread that [`take`](Engine::take) gave nothing ends.
    pub(super) fn end_idle(&mut self) {
        self.size -= 1;
        self.idle -= 1;
    }

    /// Takes a task back that no thread has begun.
    pub(super) fn withdraw(&mut self, id: u64) -> Option<T> {
        remove(&mut self.queue, id).or_else(|| {
            let task = remove(&mut self.assigned, id);
            self.idle += usize::from(task.is_some());
            task
        })
    }

    /// Changes the limits. Returns the ids of queued tasks for which a thread has to be started.
    pub(super) fn set_limits(&mut self, limits: Limits) -> Vec<u64> {
        self.limits = limits;
        let mut start = Vec::new();
        while self.size < self.limits.core
            && let Some((id, task)) = self.queue.pop_front()
        {
            self.start_for(id, task);
            start.push(id);
        }
        start
    }
}

fn remove<T>(tasks: &mut VecDeque<(u64, T)>, id: u64) -> Option<T> {
    let index = tasks.binary_search_by_key(&id, |(queued, _)| *queued).ok()?;
    tasks.remove(index).map(|(_, task)| task)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn engine(core: usize, max: usize, capacity: usize) -> Engine<&'static str> {
        Engine::new(Limits { core, max, capacity })
    }

    #[test]
    fn threads_start_up_to_the_core_then_calls_queue_then_threads_start_up_to_the_maximum() {
        let mut engine = engine(1, 2, 1);
        assert_eq!(engine.submit("a"), Submission::Start { id: 0 });
        assert_eq!(engine.submit("b"), Submission::Queued { id: 1 });
        assert_eq!(engine.submit("c"), Submission::Start { id: 2 });
        assert_eq!(engine.submit("d"), Submission::Rejected("d"));
        assert_eq!((engine.take(), engine.take()), (Some("a"), Some("c")));
        assert_eq!(engine.next(), Next::Run("b"));
    }

    #[test]
    fn below_the_core_size_a_thread_starts_although_one_is_idle() {
        let mut engine = engine(2, 2, 0);
        engine.submit("a");
        engine.take();
        assert_eq!(engine.next(), Next::Wait);
        assert_eq!(engine.submit("b"), Submission::Start { id: 1 });
        assert_eq!((engine.size(), engine.active()), (2, 1));
    }

    #[test]
    fn an_idle_thread_gets_the_task_without_a_queue() {
        let mut engine = engine(1, 1, 0);
        engine.submit("a");
        engine.take();
        assert_eq!(engine.submit("b"), Submission::Rejected("b"));
        engine.next();
        assert_eq!(engine.submit("c"), Submission::Wake { id: 2 });
        assert_eq!(engine.submit("d"), Submission::Rejected("d"));
        assert_eq!(engine.take(), Some("c"));
    }

    #[test]
    fn a_withdrawn_task_makes_room_in_the_queue() {
        let mut engine = engine(1, 1, 1);
        engine.submit("a");
        engine.take();
        engine.submit("b");
        assert_eq!(engine.withdraw(1), Some("b"));
        assert_eq!(engine.submit("c"), Submission::Queued { id: 2 });
        assert_eq!(engine.withdraw(0), None, "it runs");
    }

    #[test]
    fn a_task_that_is_withdrawn_from_a_waking_thread_leaves_it_idle() {
        let mut engine = engine(1, 1, 0);
        engine.submit("a");
        assert_eq!(engine.withdraw(0), Some("a"));
        assert_eq!(engine.active(), 0);
        assert_eq!(engine.submit("b"), Submission::Wake { id: 1 });
    }

    #[test]
    fn a_thread_that_could_not_be_started_is_not_counted() {
        let mut engine = engine(1, 1, 0);
        engine.submit("a");
        assert_eq!(engine.start_failed(0), Some("a"));
        assert_eq!(engine.size(), 0);
        assert_eq!(engine.submit("b"), Submission::Start { id: 1 });
    }

    #[test]
    fn a_task_whose_thread_failed_may_be_taken_by_another() {
        let mut engine = engine(2, 2, 0);
        engine.submit("a");
        engine.take();
        engine.next();
        engine.submit("b");
        assert_eq!(engine.take(), Some("b"), "by the idle thread");
        assert_eq!(engine.start_failed(1), None);
        assert_eq!((engine.size(), engine.active()), (1, 1));
    }

    #[test]
    fn only_threads_above_the_core_size_are_surplus() {
        let mut engine = engine(1, 2, 0);
        engine.submit("a");
        engine.submit("b");
        engine.take();
        engine.take();
        engine.next();
        assert!(engine.is_surplus());
        engine.end_idle();
        assert!(!engine.is_surplus());
        assert_eq!((engine.size(), engine.active()), (1, 1));
    }

    #[test]
    fn a_lowered_maximum_ends_threads_as_they_finish() {
        let mut engine = engine(2, 2, 1);
        for task in ["a", "b", "c"] {
            engine.submit(task);
        }
        engine.set_limits(Limits { core: 1, max: 1, capacity: 1 });
        assert_eq!(engine.next(), Next::End);
        assert_eq!(engine.next(), Next::Run("c"));
    }

    #[test]
    fn a_raised_core_size_starts_threads_for_what_is_queued() {
        let mut engine = engine(1, 1, 2);
        for task in ["a", "b", "c"] {
            engine.submit(task);
        }
        assert_eq!(engine.set_limits(Limits { core: 2, max: 2, capacity: 2 }), [1]);
        assert_eq!((engine.size(), engine.queued()), (2, 1));
    }

    #[test]
    fn tasks_whose_new_threads_failed_are_queued_in_their_order_again() {
        let mut engine = engine(1, 1, 3);
        for task in ["a", "b", "c", "d"] {
            engine.submit(task);
        }
        engine.take();
        let mut start = engine.set_limits(Limits { core: 3, max: 3, capacity: 3 });
        while let Some(id) = start.pop() {
            engine.requeue(id);
        }
        assert_eq!(engine.size(), 1);
        let rest: Vec<_> = std::iter::repeat_with(|| engine.next()).take(3).collect();
        assert_eq!(rest, [Next::Run("b"), Next::Run("c"), Next::Run("d")]);
    }
}
