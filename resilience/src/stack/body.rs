//! The ways in which a protected body runs: in the caller's task, in one of its own, or on the
//! thread pool.

use std::{
    convert::Infallible,
    fmt,
    pin::Pin,
    task::{Context, Poll, ready},
};

use tokio::task::JoinHandle;

use super::Pass;
use crate::{__private::Movable, error::CallError, thread_pool_bulkhead::Job};

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
        run: &mut Run<'_, '_>,
        cx: &mut Context<'_>,
    ) -> Poll<Result<Self::Value, CallError<Self::Error>>>;
}

/// What a body finds when it runs.
#[derive(Debug)]
pub struct Run<'a, 'l> {
    pub(super) pass: &'a mut Pass<'l>,
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
        _run: &mut Run<'_, '_>,
        cx: &mut Context<'_>,
    ) -> Poll<Result<T, CallError<E>>> {
        self.project().future.poll(cx).map_err(CallError::Inner)
    }
}

/// A body that is sent away at its first poll: not yet, on its way, or back.
enum Errand<F, R> {
    New(F),
    Away(R),
    Back,
}

impl<F, R: Future + Unpin> Errand<F, R> {
    /// Sends the body away if it is still here, and waits for its answer.
    fn poll<Refusal>(
        &mut self,
        cx: &mut Context<'_>,
        send: impl FnOnce(F) -> Result<R, Refusal>,
    ) -> Poll<Result<R::Output, Refusal>> {
        if let Errand::New(_) = self
            && let Errand::New(body) = std::mem::replace(self, Errand::Back)
        {
            *self = Errand::Away(send(body)?);
        }
        let Errand::Away(answer) = self else { return Poll::Pending };
        let answer = ready!(Pin::new(answer).poll(cx));
        *self = Errand::Back;
        Poll::Ready(Ok(answer))
    }
}

/// A future that runs in a task of its own, and on when the caller is gone.
pub struct Detached<F, T, E> {
    errand: Errand<F, JoinHandle<Result<T, E>>>,
}

impl<F, T, E> Detached<F, T, E> {
    pub(super) fn new(future: F) -> Self {
        Self { errand: Errand::New(future) }
    }
}

// The future is moved into its task before it is first polled; nothing here is ever pinned.
impl<F, T, E> Unpin for Detached<F, T, E> {}

impl<F, T, E> Body for Detached<F, T, E>
where
    F: Future<Output = Result<T, E>> + Send + 'static,
    T: Movable,
    E: Movable,
{
    type Value = T;
    type Error = E;

    fn poll_body(
        mut self: Pin<&mut Self>,
        run: &mut Run<'_, '_>,
        cx: &mut Context<'_>,
    ) -> Poll<Result<T, CallError<E>>> {
        let Ok(joined) = ready!(self.errand.poll(cx, |future| {
            let slot = run.pass.take_slot();
            Ok::<_, Infallible>(tokio::spawn(crate::registry::in_present_scope(async move {
                let _slot = slot;
                future.await
            })))
        }));
        match joined {
            Ok(result) => Poll::Ready(result.map_err(CallError::Inner)),
            Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
            Err(error) => panic!("the runtime of a detached call was shut down: {error}"),
        }
    }
}

/// A blocking function that runs on the thread pool.
pub struct Blocking<F, T, E> {
    errand: Errand<F, Job<Result<T, E>>>,
}

impl<F, T, E> Blocking<F, T, E> {
    pub(super) fn new(function: F) -> Self {
        Self { errand: Errand::New(function) }
    }
}

// As for `Detached`; a job is a plain handle.
impl<F, T, E> Unpin for Blocking<F, T, E> {}

impl<F, T, E> Body for Blocking<F, T, E>
where
    F: FnOnce() -> Result<T, E> + Send + 'static,
    T: Movable,
    E: Movable,
{
    type Value = T;
    type Error = E;

    fn poll_body(
        mut self: Pin<&mut Self>,
        run: &mut Run<'_, '_>,
        cx: &mut Context<'_>,
    ) -> Poll<Result<T, CallError<E>>> {
        let answer = ready!(self.errand.poll(cx, |function| {
            let pool = run.pass.layers.thread_pool.as_ref();
            let pool = pool.expect("only a call site with a thread pool has a blocking body");
            pool.submit(function)
        }));
        // The pool refuses at once, or later when it has no thread left for what is queued.
        Poll::Ready(match answer.flatten() {
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
