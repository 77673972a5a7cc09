//! The life of a thread of the pool.

use std::{
    io,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, mpsc},
    thread,
    time::Instant,
};

use super::{engine::Next, instance::Shared, job::Task};
use crate::bulkhead::BulkheadEventKind;

/// Starts a thread that takes its first task from the engine.
pub(super) fn start(shared: &Arc<Shared>) -> io::Result<()> {
    let worker = Arc::clone(shared);
    thread::Builder::new().name(thread_name(&shared.name)).spawn(move || work(&worker))?;
    Ok(())
}

/// Runs a single task on a thread of its own; gives it back when the system gives no thread.
pub(super) fn start_alone(name: &str, task: Box<dyn Task>) -> Result<(), Box<dyn Task>> {
    // Handed over once the thread is there: what a closure owns that gets none is lost.
    let (give, take) = mpsc::channel::<Box<dyn Task>>();
    let started = thread::Builder::new().name(thread_name(name)).spawn(move || {
        if let Ok(mut task) = take.recv() {
            task.run();
            contain(|| task.complete());
        }
    });
    match started {
        Ok(_) => give.send(task).map_err(|unsent| unsent.0),
        Err(_) => Err(task),
    }
}

/// Names of threads must hold no NUL; an instance's name comes from anywhere.
fn thread_name(instance: &str) -> String {
    format!("bulkhead-{}", instance.replace(char::is_control, "_"))
}

fn work(shared: &Shared) {
    while let Some(first) = wait_for_task(shared) {
        let mut task = first;
        loop {
            task.run();
            let next = end_task(shared);
            contain(|| task.complete());
            match next {
                Next::Run(queued) => task = queued,
                Next::Wait => break,
                Next::End => return,
            }
        }
    }
}

/// The next task that is assigned to a waiting thread; `None` ends the thread.
fn wait_for_task(shared: &Shared) -> Option<Box<dyn Task>> {
    let mut state = shared.state.lock();
    let idle_since = Instant::now();
    loop {
        if let Some(task) = state.engine.take() {
            state.permitted += 1;
            let noted = shared.note(BulkheadEventKind::CallPermitted);
            drop(state);
            shared.events.deliver_if(noted);
            return Some(task);
        }
        if state.closed {
            state.engine.end_idle();
            return None;
        }
        if !state.engine.is_surplus() {
            state = shared.wake.wait(state);
            continue;
        }
        // A keep-alive beyond what the clock can count is without end.
        let Some(until) = idle_since.checked_add(state.config.keep_alive_duration()) else {
            state = shared.wake.wait(state);
            continue;
        };
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            state.engine.end_idle();
            return None;
        }
        state = shared.wake.wait_for(state, left);
    }
}

/// Counts the end of a task and the start of the next, which are one step for whoever looks.
fn end_task(shared: &Shared) -> Next<Box<dyn Task>> {
    let mut state = shared.state.lock();
    state.finished += 1;
    let mut noted = shared.note(BulkheadEventKind::CallFinished);
    let next = state.engine.next();
    if matches!(next, Next::Run(_)) {
        state.permitted += 1;
        noted |= shared.note(BulkheadEventKind::CallPermitted);
    }
    drop(state);
    shared.events.deliver_if(noted);
    next
}

/// A result that nobody waits for, or a call that never runs, is dropped here, and a drop may panic:
/// that must not cost a thread, nor reach another caller.
pub(super) fn contain(end: impl FnOnce()) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(end)) {
        // Dropping the panic's payload may panic as well.
        std::mem::forget(panic);
    }
}
