use std::{
    future::{Future, poll_fn},
    panic::catch_unwind,
    pin::pin,
    sync::{Arc, Weak},
    task::Poll,
    time::Duration,
};

use tokio::{
    runtime::{Handle, Id},
    sync::Notify,
};

use super::{instance::Shared, section::Section};
use crate::{Clock, sync::plain::Mutex};

/// The task that makes a change of state come at its time also when no call does.
///
/// A breaker has at most one. It is only a convenience: whoever uses the breaker catches up with
/// what is due, so nothing depends on the task, on its runtime or on there being one.
#[derive(Debug, Default)]
pub(super) struct Timer {
    /// Wakes the task. The task holds the other reference, so with one left the task is gone, for
    /// instance with its runtime.
    bell: Option<Arc<Notify>>,
    /// The stay and its end that the task was last told of.
    plan: (u64, Option<u64>),
}

/// What is to be done about the task once the breaker's lock is released.
pub(super) enum Errand {
    Wake(Weak<Notify>),
    Spawn(Handle, Arc<Notify>),
}

impl Timer {
    /// Follows a stay in a state, which time alone will end at `due` if that is set.
    ///
    /// Other settings can give a stay another end, so it is no matter of entering a state only. Without
    /// `can_spawn` no task is started for it.
    pub(super) fn plan(
        &mut self,
        generation: u64,
        due: Option<u64>,
        can_spawn: bool,
    ) -> Option<Errand> {
        let plan = (generation, due);
        if std::mem::replace(&mut self.plan, plan) == plan {
            return None;
        }
        if let Some(bell) = &self.bell
            && Arc::strong_count(bell) > 1
        {
            return Some(Errand::Wake(Arc::downgrade(bell)));
        }
        self.bell = None;
        due.filter(|_| can_spawn)?;
        let runtime = Handle::try_current().ok()?;
        let bell = self.bell.insert(Arc::default());
        Some(Errand::Spawn(runtime, Arc::clone(bell)))
    }

    /// Lets go of a task that is about to end.
    fn forget(&mut self) {
        self.bell = None;
    }
}

impl Drop for Timer {
    /// Sends the task home with the breaker that it worked for.
    fn drop(&mut self) {
        if let Some(bell) = &self.bell {
            bell.notify_one();
        }
    }
}

impl Errand {
    pub(super) fn run(self, shared: &Arc<Shared>) {
        match self {
            Errand::Wake(bell) => {
                if let Some(bell) = bell.upgrade() {
                    bell.notify_one();
                }
            }
            Errand::Spawn(runtime, bell) => {
                if can_sleep(&shared.clock, runtime.id()) {
                    runtime.spawn(watch(Arc::downgrade(shared), bell));
                }
            }
        }
    }
}

/// Whether a task on the present runtime could wait on this clock: tokio's time may be off there.
///
/// There is no asking tokio: it panics. That happens here, where it is caught, and once for each
/// runtime, because the panic hook hears of it all the same.
fn can_sleep(clock: &Clock, runtime: Id) -> bool {
    static WITHOUT_TIME: Mutex<Vec<Id>> = Mutex::new(Vec::new());
    if !clock.is_same(&Clock::system()) {
        return true;
    }
    if WITHOUT_TIME.lock().contains(&runtime) {
        return false;
    }
    // Not under the lock: the hook is the user's and may use a breaker.
    let has_time = catch_unwind(|| tokio::time::sleep(Duration::ZERO)).is_ok();
    if !has_time {
        WITHOUT_TIME.lock().push(runtime);
    }
    has_time
}

async fn watch(breaker: Weak<Shared>, bell: Arc<Notify>) {
    while let Some((clock, due)) = catch_up(&breaker) {
        let (mut sleep, mut rung) = (pin!(clock.sleep_until(due)), pin!(bell.notified()));
        poll_fn(|cx| match sleep.as_mut().poll(cx) {
            Poll::Pending => rung.as_mut().poll(cx),
            over @ Poll::Ready(()) => over,
        })
        .await;
    }
}

/// Applies what is due and returns when the next comes; `None` ends the task.
fn catch_up(breaker: &Weak<Shared>) -> Option<(Clock, u64)> {
    let shared = breaker.upgrade()?;
    let clock = shared.clock.clone();
    let mut section = Section::begin(&shared, clock.now());
    let due = section.guarded.engine.next_timer();
    if due.is_none() {
        // Under the lock, so that whoever sets a new timer finds no task and starts one.
        section.guarded.timer.forget();
    }
    section.finish();
    Some((clock, due?))
}
