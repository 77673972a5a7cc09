//! Models of what threads do to one instance at the same time.
//!
//! Loom runs each in every order that the locks and atomics of `resilience::sync` allow, and fails
//! with the first order that breaks an assertion or leaves everybody waiting. The models say what
//! callers see and nothing of how it comes about. The README of `tests` tells how to run them and
//! which faults they catch.
#![cfg(resilience_model)]
#![allow(clippy::unwrap_used)] // helpers of tests may unwrap as the tests themselves do

mod bulkhead;
mod circuit_breaker;
mod events;
mod rate_limiter;

use std::{
    env,
    pin::{Pin, pin},
    sync::Arc,
    task::{Context, Poll, Wake, Waker},
};

use loom::{model::Builder, sync::Notify, thread};

/// How often the threads of a run may be stopped where they could go on. Faults of concurrency
/// rarely need more than two; every one more multiplies the runs.
const PREEMPTIONS: usize = 4;

/// Runs `model` in every order of its threads: up to the bound, or all with `RESILIENCE_MODELS=full`.
fn explore(model: impl Fn() + Send + Sync + 'static) {
    let mut builder = Builder::new();
    if env::var("RESILIENCE_MODELS").is_ok_and(|extent| extent == "full") {
        builder.preemption_bound = None;
    } else {
        // Loom's own variable, `LOOM_MAX_PREEMPTIONS`, goes first.
        builder.preemption_bound.get_or_insert(PREEMPTIONS);
    }
    builder.check(model);
}

/// Runs `there` in a thread of its own while `here` runs in this one.
fn race<T: 'static, H>(there: impl FnOnce() -> T + 'static, here: impl FnOnce() -> H) -> (T, H) {
    let other = thread::spawn(there);
    let here = here();
    (other.join().unwrap(), here)
}

/// Polls `future` until it is ready. Where the last wake-up is lost, loom finds a deadlock.
fn block_on<F: Future>(future: F) -> F::Output {
    let bell = Arc::new(Bell(Notify::new()));
    let waker = Waker::from(Arc::clone(&bell));
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(output) => return output,
            Poll::Pending => bell.0.wait(),
        }
    }
}

/// Polls a future once; nobody is woken.
fn poll<F: Future + ?Sized>(future: &mut Pin<Box<F>>) -> Poll<F::Output> {
    future.as_mut().poll(&mut Context::from_waker(Waker::noop()))
}

struct Bell(Notify);

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.0.notify();
    }
}
