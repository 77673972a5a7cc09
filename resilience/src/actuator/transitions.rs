//! The transitions of all breakers.

use std::collections::VecDeque;

use tokio::sync::broadcast;

use super::instances::Transition;
use crate::sync::plain::Mutex;

/// How many there are for who begins to watch: as many as the page shows.
const KEPT: usize = 200;

/// How many wait for a slow reader before the oldest is lost.
const WAITING: usize = 1024;

/// Keeps the last transitions and tells the next ones.
pub(super) struct Transitions {
    kept: Mutex<VecDeque<Transition>>,
    next: broadcast::Sender<Transition>,
}

impl Transitions {
    pub(super) fn new() -> Self {
        Self { kept: Mutex::new(VecDeque::new()), next: broadcast::Sender::new(WAITING) }
    }

    pub(super) fn add(&self, transition: Transition) {
        let mut kept = self.kept.lock();
        if kept.len() == KEPT {
            kept.pop_front();
        }
        kept.push_back(transition.clone());
        // Under the lock, so that none is kept and told as well. Without a receiver there is nobody to tell.
        let _ = self.next.send(transition);
    }

    /// Those that are kept, oldest first, and all that come after them.
    pub(super) fn follow(&self) -> (Vec<Transition>, broadcast::Receiver<Transition>) {
        let kept = self.kept.lock();
        (kept.iter().cloned().collect(), self.next.subscribe())
    }
}
