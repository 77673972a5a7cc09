//! The ways in which a protected body runs: in the caller's task, in one of its own, or on the
//! thread pool.

use std::{
    fmt,
    marker::PhantomData,
    pin::Pin,
    task::{Context, Poll, ready},
};

use tokio::task::JoinHandle;

use super::Layers;
use crate::{bulkhead::Permit, error::CallError, thread_pool_bulkhead::Job};

/// A body that [`Protect`](super::Protect) runs once a bulkhead slot is there.
pub trait Body {
    /// The value of a success.
    type Value;
    /// The business error.
    type Error;

    /// Runs the body. It may take the bulkhead's slot along into a task of its own; what it leaves
    /// is given back when the body is done or dropped.
    #[doc(hidden)]
    fn poll_body(
        self: Pin<&mut Self>,
        run: &mut Run<'_>,
        cx: &mut Context<'_>,
    ) -> Poll<Result<Self::Value, CallError<Self::Error>>>;
}

/// What a body finds when it runs.
#[derive(Debug)]
pub struct Run<'a> {
    pub(super) layers: &'a Layers,
    pub(super) slot: &'a mut Option<Permit>,
}

pin_project_lite::pin_project! {
    /// A future that runs in the caller's task and ends with it.
    pub struct Plain<F> {
        #[pin]
        future: F,
    }
}

impl<F> Plain<F> {
    pub(super) fn new(future: F) -> Self {
        Self { future }
    }
}

impl<F: Future<Output = Result<T, E>>, T, E> Body for Plain<F> {
    type Value = T;
    type Error = E;

    #[inline]
    fn poll_body(
        self: Pin<&mut Self>,
        _run: &mut Run<'_>,
        cx: &mut Context<'_>,
    ) -> Poll<Result<T, CallError<E>>> {
        self.project().future.poll(cx).map_err(CallError::Inner)
    }
}

/// A future that runs in a task of its own, and on when the caller is gone.
pub struct Detached<F, T, E> {
    state: Detaching<F, T, E>,
}

enum Detaching<F, T, E> {
    New(F),
    Running(JoinHandle<Result<T, E>>),
    Done,
}

impl<F, T, E> Detached<F, T, E> {
    pub(super) fn new(future: F) -> Self {
        Self { state: Detaching::New(future) }
    }
}

// The future is moved into its task before it is first polled; nothing here is ever pinned.
impl<F, T, E> Unpin for Detached<F, T, E> {}

impl<F, T, E> Body for Detached<F, T, E>
where
    F: Future<Output = Result<T, E>> + Send + 'static,
    T: Send + 'static,
    E: Send + 'static,
{
    type Value = T;
    type Error = E;

    fn poll_body(
        mut self: Pin<&mut Self>,
        run: &mut Run<'_>,
        cx: &mut Context<'_>,
    ) -> Poll<Result<T, CallError<E>>> {
        if let Detaching::New(_) = self.state
            && let Detaching::New(future) = std::mem::replace(&mut self.state, Detaching::Done)
        {
            let slot = run.slot.take();
            self.state =
                Detaching::Running(tokio::spawn(crate::registry::in_present_scope(async move {
                    let _slot = slot;
                    future.await
                })));
        }
        let Detaching::Running(task) = &mut self.state else { return Poll::Pending };
        let joined = ready!(Pin::new(task).poll(cx));
        self.state = Detaching::Done;
        match joined {
            Ok(result) => Poll::Ready(result.map_err(CallError::Inner)),
            Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
            Err(error) => panic!("the runtime of a detached call was shut down: {error}"),
        }
    }
}

/// A blocking function that runs on the thread pool.
pub struct Blocking<F, T, E> {
    state: Queueing<F, T, E>,
}

enum Queueing<F, T, E> {
    New(F),
    Submitted(Job<Result<T, E>>),
    Done(PhantomData<fn() -> (T, E)>),
}

impl<F, T, E> Blocking<F, T, E> {
    pub(super) fn new(function: F) -> Self {
        Self { state: Queueing::New(function) }
    }
}

// As for `Detached`; a job is a plain handle.
impl<F, T, E> Unpin for Blocking<F, T, E> {}

impl<F, T, E> Body for Blocking<F, T, E>
where
    F: FnOnce() -> Result<T, E> + Send + 'static,
    T: Send + 'static,
    E: Send + 'static,
{
    type Value = T;
    type Error = E;

    fn poll_body(
        mut self: Pin<&mut Self>,
        run: &mut Run<'_>,
        cx: &mut Context<'_>,
    ) -> Poll<Result<T, CallError<E>>> {
        if let Queueing::New(_) = self.state
            && let Queueing::New(function) =
                std::mem::replace(&mut self.state, Queueing::Done(PhantomData))
        {
            let pool = run.layers.thread_pool.as_ref();
            let pool = pool.expect("only a call site with a thread pool has a blocking body");
            match pool.submit(function) {
                Ok(job) => self.state = Queueing::Submitted(job),
                Err(full) => return Poll::Ready(Err(CallError::Resilience(full.into()))),
            }
        }
        let Queueing::Submitted(job) = &mut self.state else { return Poll::Pending };
        let result = ready!(Pin::new(job).poll(cx));
        self.state = Queueing::Done(PhantomData);
        Poll::Ready(match result {
            Ok(result) => result.map_err(CallError::Inner),
            Err(full) => Err(CallError::Resilience(full.into())),
        })
    }
}

macro_rules! opaque_debug {
    ($($name:ident<$($parameter:ident),*>),*) => {
        $(impl<$($parameter),*> fmt::Debug for $name<$($parameter),*> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name)).finish_non_exhaustive()
            }
        })*
    };
}

opaque_debug!(Plain<F>, Detached<F, T, E>, Blocking<F, T, E>);
