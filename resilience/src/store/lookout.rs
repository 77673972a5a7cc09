//! What notices that a server which is left alone is back.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use redis::{ErrorKind, ServerErrorKind};

use super::{guard::Guard, link::Link};
use crate::sync::atomic::{AtomicBool, Ordering};

/// How often it looks, up or down by a fifth at random.
const EVERY: Duration = Duration::from_secs(1);

/// Looks whether the server answers while no decision is sent there, however long the guard's pauses
/// have grown. It asks for nothing that is work for the server.
#[derive(Clone)]
pub(super) struct Lookout {
    link: Link,
    guard: Guard,
    /// An answer that takes longer is too late for a decision too.
    answers_within: Duration,
    looks: Arc<AtomicBool>,
}

impl Lookout {
    pub(super) fn new(link: Link, guard: Guard, answers_within: Duration) -> Self {
        Self { link, guard, answers_within, looks: Arc::default() }
    }

    /// Starts to look unless it does already, and goes on until the guard is closed.
    pub(super) fn start(&self) {
        if !self.looks.swap(true, Ordering::Relaxed) {
            let lookout = self.clone();
            tokio::spawn(async move { lookout.look().await });
        }
    }

    async fn look(&self) {
        let _ends = Ends(&self.looks);
        loop {
            tokio::time::sleep(EVERY.mul_f64(0.8 + 0.4 * fastrand::f64())).await;
            if self.guard.is_closed() {
                return;
            }
            if self.server_answers().await {
                self.guard.end_pause(Instant::now());
            }
        }
    }

    async fn server_answers(&self) -> bool {
        let Ok((mut connection, number)) = self.link.get().await else { return false };
        let ping = redis::cmd("PING");
        let answer = tokio::time::timeout(self.answers_within, connection.run(&ping)).await;
        let answers = match answer {
            Ok(Ok(_)) => true,
            // A server that does not let this user ask is there all the same.
            Ok(Err(error)) => error.kind() == ErrorKind::Server(ServerErrorKind::NoPerm),
            Err(_) => false,
        };
        if !answers {
            self.link.discard(number);
        }
        answers
    }
}

/// However the look ends, the next failure may start another.
struct Ends<'l>(&'l AtomicBool);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Relaxed);
    }
}
