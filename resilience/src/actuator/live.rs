//! One look at all instances for everybody who watches them.

use std::{
    sync::{Arc, Weak},
    time::Duration,
};

use tokio::{
    sync::{
        broadcast::{self, error::RecvError},
        watch,
    },
    task::JoinHandle,
    time::MissedTickBehavior,
};

use super::{
    instances::{Instances, Transition},
    listening::{Listening, Reach},
    transitions::Transitions,
};
use crate::{CircuitBreaker, Resilience, sync::plain::Mutex};

/// How often the instances are looked at.
const TICK: Duration = Duration::from_millis(500);

/// Looks at the instances for as long as somebody watches, and listens to breakers all the time.
pub(super) struct Live {
    registry: Resilience,
    looking: Mutex<Weak<Looking>>,
    transitions: Arc<Transitions>,
    _listening: Listening,
}

/// A task that looks; it ends with its last watcher.
struct Looking {
    latest: watch::Receiver<Arc<Instances>>,
    task: JoinHandle<()>,
}

/// One who watches.
pub(super) struct Watcher {
    latest: watch::Receiver<Arc<Instances>>,
    transitions: broadcast::Receiver<Transition>,
    earlier: Vec<Transition>,
    _looking: Arc<Looking>,
}

/// What a watcher is told.
pub(super) enum News {
    /// The instances have changed to this.
    Instances(Arc<Instances>),
    /// A breaker has changed its state.
    Transition(Transition),
    /// So many of the latter were missed.
    Lost(u64),
}

impl Live {
    pub(super) fn new(registry: Resilience) -> Self {
        let transitions = Arc::new(Transitions::new());
        let listening = Listening::to::<CircuitBreaker>(&registry, Reach::Changes, |_| true, {
            let transitions = Arc::clone(&transitions);
            move |event| {
                if let Some(transition) = Transition::of(event) {
                    transitions.add(transition);
                }
            }
        });
        Self { registry, looking: Mutex::new(Weak::new()), transitions, _listening: listening }
    }

    /// The last transitions, oldest first, and all that come after them.
    pub(super) fn transitions(&self) -> (Vec<Transition>, broadcast::Receiver<Transition>) {
        self.transitions.follow()
    }

    /// Starts to watch.
    pub(super) fn watch(&self) -> Watcher {
        let looking = {
            let mut looking = self.looking.lock();
            looking.upgrade().unwrap_or_else(|| {
                let new = Arc::new(Looking::start(self.registry.clone()));
                *looking = Arc::downgrade(&new);
                new
            })
        };
        let (earlier, transitions) = self.transitions();
        let latest = looking.latest.clone();
        Watcher { latest, transitions, earlier, _looking: looking }
    }
}

impl Looking {
    fn start(registry: Resilience) -> Self {
        let (sender, latest) = watch::channel(Arc::new(Instances::of(&registry)));
        let task = tokio::spawn(look(registry, sender));
        Self { latest, task }
    }
}

impl Drop for Looking {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn look(registry: Resilience, latest: watch::Sender<Arc<Instances>>) {
    let mut ticks = tokio::time::interval(TICK);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        let registry = registry.clone();
        // There may be very many, and tasks of the program's wait for this thread.
        let now = tokio::task::spawn_blocking(move || Instances::of(&registry));
        let Ok(now) = now.await else { return };
        latest.send_if_modified(|last| {
            let changed = **last != now;
            if changed {
                *last = Arc::new(now);
            }
            changed
        });
    }
}

impl Watcher {
    /// The instances as they were when somebody looked last.
    pub(super) fn latest(&mut self) -> Arc<Instances> {
        Arc::clone(&self.latest.borrow_and_update())
    }

    /// The last transitions before those that are told, oldest first.
    pub(super) fn take_earlier(&mut self) -> Vec<Transition> {
        std::mem::take(&mut self.earlier)
    }

    /// Waits for the next news; `None` once there will be none any more.
    pub(super) async fn next(&mut self) -> Option<News> {
        tokio::select! {
            biased;
            transition = self.transitions.recv() => match transition {
                Ok(transition) => Some(News::Transition(transition)),
                Err(RecvError::Lagged(lost)) => Some(News::Lost(lost)),
                Err(RecvError::Closed) => None,
            },
            changed = self.latest.changed() => {
                changed.ok()?;
                Some(News::Instances(self.latest()))
            }
        }
    }
}
