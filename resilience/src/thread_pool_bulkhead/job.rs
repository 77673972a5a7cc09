use std::{
    fmt,
    future::Future,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, Waker},
    thread,
};

use super::instance::ThreadPoolBulkhead;
use crate::{BulkheadFull, sync::plain::Mutex};

/// What a thread of the pool runs.
///
/// Two steps, so that the thread is free again, and the bulkhead's numbers say so, before the caller
/// hears of the result.
pub(super) trait Task: Send {
    /// Runs the call. A panic of the call is part of its outcome.
    fn run(&mut self);

    /// Hands the outcome to the caller.
    fn complete(self: Box<Self>);

    /// Tells the caller that the call will never run.
    fn refuse(self: Box<Self>, full: BulkheadFull);
}

/// A call and where its outcome goes.
pub(super) struct Call<F, R> {
    body: Option<F>,
    outcome: Option<thread::Result<R>>,
    desk: Arc<Desk<R>>,
}

/// Where a thread leaves an outcome for a task to fetch.
pub(super) struct Desk<R>(Mutex<Delivery<R>>);

enum Delivery<R> {
    Awaited(Option<Waker>),
    Here(Outcome<R>),
    Fetched,
}

/// What became of a call: refused, or run to its end or to a panic.
type Outcome<R> = Result<thread::Result<R>, BulkheadFull>;

impl<R> Desk<R> {
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self(Mutex::new(Delivery::Awaited(None))))
    }

    fn deliver(&self, outcome: Outcome<R>) {
        let before = std::mem::replace(&mut *self.0.lock(), Delivery::Here(outcome));
        if let Delivery::Awaited(Some(waker)) = before {
            waker.wake();
        }
    }

    fn poll(&self, cx: &Context<'_>) -> Poll<Outcome<R>> {
        let mut delivery = self.0.lock();
        match std::mem::replace(&mut *delivery, Delivery::Fetched) {
            Delivery::Here(outcome) => Poll::Ready(outcome),
            Delivery::Fetched => panic!("a job was polled after it had returned"),
            Delivery::Awaited(last) => {
                *delivery = Delivery::Awaited(Some(cx.waker().clone()));
                // The last waker goes after the lock: dropping it may drop this very job.
                drop(delivery);
                drop(last);
                Poll::Pending
            }
        }
    }
}

impl<F, R> Call<F, R> {
    pub(super) fn new(body: F, desk: Arc<Desk<R>>) -> Self {
        Self { body: Some(body), outcome: None, desk }
    }
}

impl<F: FnOnce() -> R + Send, R: Send> Task for Call<F, R> {
    fn run(&mut self) {
        // Unwind safety is the caller's affair: the panic goes on in the task that awaits the job.
        self.outcome = self.body.take().map(|body| catch_unwind(AssertUnwindSafe(body)));
    }

    fn complete(self: Box<Self>) {
        if let Some(outcome) = self.outcome {
            self.desk.deliver(Ok(outcome));
        }
    }

    fn refuse(self: Box<Self>, full: BulkheadFull) {
        self.desk.deliver(Err(full));
    }
}

/// A call on the pool: a future of what it returns, or of a refusal where the system gave no thread
/// to run it.
///
/// # Panics
///
/// With the call's own panic.
///
/// # Cancel safety
///
/// Dropping it takes a queued call out of the queue. A running one runs on, and keeps its thread
/// until it ends.
#[must_use = "dropping the job takes it out of the queue"]
pub(crate) struct Job<R> {
    desk: Arc<Desk<R>>,
    place: Place,
}

/// A place in the pool's queue that is given up unless the outcome was fetched.
struct Place {
    /// Keeps the pool's threads alive; `None` for a call on a thread of its own.
    pool: Option<(ThreadPoolBulkhead, u64)>,
}

impl<R> Job<R> {
    pub(super) fn on_pool(desk: Arc<Desk<R>>, pool: ThreadPoolBulkhead, id: u64) -> Self {
        Self { desk, place: Place { pool: Some((pool, id)) } }
    }

    pub(super) fn on_own_thread(desk: Arc<Desk<R>>) -> Self {
        Self { desk, place: Place { pool: None } }
    }
}

impl<R> Future for Job<R> {
    type Output = Result<R, BulkheadFull>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let Poll::Ready(outcome) = self.desk.poll(cx) else { return Poll::Pending };
        self.place.pool = None;
        match outcome {
            Ok(Ok(value)) => Poll::Ready(Ok(value)),
            Ok(Err(panic)) => resume_unwind(panic),
            Err(full) => Poll::Ready(Err(full)),
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Some((pool, id)) = self.pool.take() {
            pool.withdraw(id);
        }
    }
}

impl<R> fmt::Debug for Job<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Job").finish_non_exhaustive()
    }
}
