use std::{
    fmt,
    future::Future,
    mem,
    pin::Pin,
    task::{Context, Poll},
};

use tower_layer::Layer;
use tower_service::Service;

use super::{by_name::constructors, turn::Turn};
use crate::{
    Bulkhead, CallError,
    bulkhead::{Entry, Permit, WaitInTime},
    trace::{CallSpan, Named},
};

/// Limits how many requests a service works on at once.
///
/// A request waits for its slot after it was accepted, not in `poll_ready`: the bulkhead's order
/// and `max_wait_duration` hold, and a service that is kept ready takes no slot.
///
/// # Examples
///
/// ```
/// use resilience::{Bulkhead, BulkheadConfig, tower::BulkheadLayer};
/// use tower::{Layer, ServiceExt, service_fn};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let config = BulkheadConfig::builder().max_concurrent_calls(1).build()?;
/// let bulkhead = Bulkhead::new("render", config);
/// let layer = BulkheadLayer::new(bulkhead.clone());
/// let render = layer.layer(service_fn(|page: u32| async move { Ok::<_, std::io::Error>(page) }));
/// assert_eq!(render.clone().oneshot(7).await?, 7);
/// let taken = bulkhead.try_acquire()?;
/// assert!(render.oneshot(8).await.is_err());
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct BulkheadLayer {
    instance: Bulkhead,
}

impl BulkheadLayer {
    constructors!(Bulkhead, "a bulkhead";);
}

impl<S> Layer<S> for BulkheadLayer {
    type Service = BulkheadService<S>;

    fn layer(&self, inner: S) -> Self::Service {
        BulkheadService { inner, bulkhead: self.instance.clone() }
    }
}

/// A service behind a [`BulkheadLayer`].
#[derive(Debug, Clone)]
pub struct BulkheadService<S> {
    inner: S,
    bulkhead: Bulkhead,
}

impl<S: Service<R> + Clone, R> Service<R> for BulkheadService<S> {
    type Response = S::Response;
    type Error = CallError<S::Error>;
    type Future = BulkheadFuture<S, R>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.inner.poll_ready(cx).map_err(CallError::Inner)
    }

    fn call(&mut self, request: R) -> Self::Future {
        let mut span = CallSpan::start(|| self.bulkhead.names());
        let turn = span.run_body(|| self.begin(request));
        BulkheadFuture { turn, span }
    }
}

impl<S> BulkheadService<S> {
    fn begin<R>(&mut self, request: R) -> Turn<WaitInTime, Permit, S, R, S::Future>
    where
        S: Service<R> + Clone,
    {
        let due = match self.bulkhead.due() {
            Ok(due) => due,
            Err(over) => return Turn::refused(over),
        };
        match self.bulkhead.begin(|| self.bulkhead.clock().now()) {
            Ok(Entry::Admitted(slot)) => {
                Turn::running(slot.into_permit(), self.inner.call(request))
            }
            Ok(Entry::Queued(queued)) => {
                let wait = queued.wait();
                let next = self.inner.clone();
                Turn::waiting(wait.before(due), mem::replace(&mut self.inner, next), request)
            }
            Err(full) => Turn::refused(full),
        }
    }
}

pin_project_lite::pin_project! {
    /// The answer of a [`BulkheadService`].
    ///
    /// # Cancel safety
    ///
    /// Dropping it drops the call and frees its slot, or leaves the queue.
    #[must_use = "futures do nothing unless awaited"]
    pub struct BulkheadFuture<S: Service<R>, R> {
        #[pin]
        turn: Turn<WaitInTime, Permit, S, R, S::Future>,
        span: CallSpan,
    }
}

impl<S: Service<R>, R> Future for BulkheadFuture<S, R> {
    type Output = Result<S::Response, CallError<S::Error>>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        this.span.poll_call(this.turn, cx)
    }
}

impl<S: Service<R>, R> fmt::Debug for BulkheadFuture<S, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BulkheadFuture").finish_non_exhaustive()
    }
}
