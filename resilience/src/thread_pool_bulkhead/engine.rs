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
    /// has taken it. [`take_stranded`](Engine::take_stranded) must follow.
    pub(super) fn start_failed(&mut self, id: u64) -> Option<T> {
        self.size -= 1;
        let task = remove_assigned(&mut self.assigned, id);
        if task.is_none() {
            self.idle -= 1;
        }
        task
    }

    /// As [`start_failed`](Engine::start_failed), for a task that had been queued: it goes to an idle
    /// thread, which has to be woken if this returns true, or back to the head of the queue. Of
    /// several tasks, the latest first. [`take_stranded`](Engine::take_stranded) must follow.
    pub(super) fn requeue(&mut self, id: u64) -> bool {
        let Some(task) = self.start_failed(id) else { return false };
        let wake = self.idle > 0;
        if wake {
            self.idle -= 1;
            self.assigned.push_back((id, task));
        } else {
            self.queue.push_front((id, task));
        }
        wake
    }

    /// What is queued although no thread is left that would come to it.
    pub(super) fn take_stranded(&mut self) -> Vec<T> {
        if self.size == 0 { self.take_queue() } else { Vec::new() }
    }

    /// Takes everything out of the queue.
    pub(super) fn take_queue(&mut self) -> Vec<T> {
        self.queue.drain(..).map(|(_, task)| task).collect()
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
        if let Some(task) = remove_queued(&mut self.queue, id) {
            return Some(task);
        }
        let task = remove_assigned(&mut self.assigned, id)?;
        // The thread is on its way: it would go to sleep next to what was queued since.
        match self.queue.pop_front() {
            Some(queued) => self.assigned.push_back(queued),
            None => self.idle += 1,
        }
        Some(task)
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

/// Searches one by one: tasks from the queue are assigned after later ones, and there are never more
/// assigned tasks than threads.
fn remove_assigned<T>(assigned: &mut VecDeque<(u64, T)>, id: u64) -> Option<T> {
    let index = assigned.iter().position(|(assigned, _)| *assigned == id)?;
    assigned.remove(index).map(|(_, task)| task)
}

/// The queue is in ascending order, and may be long.
fn remove_queued<T>(queue: &mut VecDeque<(u64, T)>, id: u64) -> Option<T> {
    let index = queue.binary_search_by_key(&id, |(queued, _)| *queued).ok()?;
    queue.remove(index).map(|(_, task)| task)
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
    fn a_waking_thread_whose_task_is_withdrawn_gets_what_was_queued_since() {
        let mut engine = engine(1, 1, 1);
        engine.submit("a");
        assert_eq!(engine.submit("b"), Submission::Queued { id: 1 });
        assert_eq!(engine.withdraw(0), Some("a"));
        assert_eq!(engine.take(), Some("b"));
        assert_eq!((engine.active(), engine.queued()), (1, 0));
    }

    #[test]
    fn a_task_that_was_queued_first_and_assigned_later_can_be_withdrawn() {
        let mut engine = engine(1, 3, 1);
        engine.submit("a");
        engine.take();
        for task in ["b", "c", "d"] {
            engine.submit(task);
        }
        assert_eq!(engine.withdraw(2), Some("c"));
        assert_eq!(engine.withdraw(1), Some("b"));
        assert_eq!(engine.withdraw(3), Some("d"));
        assert_eq!((engine.size(), engine.active()), (3, 1));
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
    fn what_was_queued_behind_a_thread_that_never_started_is_stranded() {
        let mut engine = engine(1, 1, 2);
        for task in ["a", "b", "c"] {
            engine.submit(task);
        }
        assert!(engine.take_stranded().is_empty(), "the thread may still start");
        assert_eq!(engine.start_failed(0), Some("a"));
        assert_eq!(engine.take_stranded(), ["b", "c"]);
        assert_eq!((engine.size(), engine.queued()), (0, 0));
    }

    #[test]
    fn a_queued_task_is_stranded_when_the_last_thread_ends_while_its_own_fails() {
        let mut engine = engine(1, 1, 2);
        engine.submit("a");
        engine.take();
        engine.submit("b");
        assert_eq!(engine.set_limits(Limits { core: 2, max: 2, capacity: 2 }), [1]);
        engine.set_limits(Limits { core: 1, max: 1, capacity: 2 });
        assert_eq!(engine.next(), Next::End);
        assert!(!engine.requeue(1));
        assert_eq!(engine.take_stranded(), ["b"]);
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

    /// Threads as the engine must count them.
    #[derive(Default)]
    struct Threads {
        waiting_or_starting: usize,
        running: usize,
    }

    #[test]
    fn no_thread_sleeps_next_to_a_queue_whatever_happens() {
        let mut random = fastrand::Rng::with_seed(7);
        for _ in 0..2_000 {
            let mut engine = engine(1, 2, 2);
            let mut threads = Threads::default();
            for _ in 0..60 {
                step(&mut engine, &mut threads, &mut random);
                let asleep_or_on_their_way = engine.idle + engine.assigned.len();
                assert_eq!(asleep_or_on_their_way, threads.waiting_or_starting);
                assert_eq!(engine.size(), threads.waiting_or_starting + threads.running);
                assert!(engine.idle == 0 || engine.queue.is_empty());
                assert!(engine.size() > 0 || engine.queue.is_empty());
            }
        }
    }

    fn step(engine: &mut Engine<&'static str>, threads: &mut Threads, random: &mut fastrand::Rng) {
        match random.u8(..7) {
            0 | 1 => {
                if let Submission::Start { id } = engine.submit("task") {
                    if random.u8(..8) == 0 {
                        engine.start_failed(id);
                        engine.take_stranded();
                    } else {
                        threads.waiting_or_starting += 1;
                    }
                }
            }
            2 if threads.waiting_or_starting > 0 => {
                if engine.take().is_some() {
                    threads.waiting_or_starting -= 1;
                    threads.running += 1;
                } else if engine.is_surplus() {
                    engine.end_idle();
                    threads.waiting_or_starting -= 1;
                }
            }
            3 if threads.running > 0 => match engine.next() {
                Next::Run(_) => {}
                Next::Wait => {
                    threads.running -= 1;
                    threads.waiting_or_starting += 1;
                }
                Next::End => threads.running -= 1,
            },
            4 | 5 => {
                engine.withdraw(random.u64(..=engine.next_id));
            }
            6 => {
                let core = random.usize(1..4);
                let max = random.usize(core..5);
                let start = engine.set_limits(Limits { core, max, capacity: random.usize(..4) });
                for id in start.into_iter().rev() {
                    if random.bool() {
                        threads.waiting_or_starting += 1;
                    } else {
                        engine.requeue(id);
                        engine.take_stranded();
                    }
                }
            }
            _ => {}
        }
    }
}
