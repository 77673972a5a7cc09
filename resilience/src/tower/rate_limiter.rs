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
    CallError, RateLimiter,
    context::longest_wait,
    rate_limiter::WaitInTime,
    trace::{CallSpan, Named},
};

/// Limits how many requests of a period reach a service.
///
/// A request waits for its turn after it was accepted, up to `timeout_duration`, not in
/// `poll_ready`: a service that is kept ready reserves nothing.
///
/// # Examples
///
/// ```
/// use resilience::{RateLimiter, RateLimiterConfig, tower::RateLimiterLayer};
/// use tower::{Layer, ServiceExt, service_fn};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let config = RateLimiterConfig::builder()
///     .limit_for_period(3)
///     .limit_refresh_period(std::time::Duration::from_secs(3600))
///     .timeout_duration(std::time::Duration::ZERO)
///     .build()?;
/// let layer = RateLimiterLayer::new(RateLimiter::new("search", config)).permits(2);
/// let search = layer.layer(service_fn(|word: &'static str| async move {
///     Ok::<_, std::io::Error>(word.len())
/// }));
/// assert_eq!(search.clone().oneshot("tower").await?, 5);
/// assert!(search.oneshot("axum").await.is_err()); // one permission is left, two are needed
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct RateLimiterLayer {
    instance: RateLimiter,
    permits: u32,
}

impl RateLimiterLayer {
    constructors!(RateLimiter, "a rate limiter"; permits: 1);

    /// How many permissions a request takes; from 1, and 1 unless set.
    ///
    /// # Panics
    ///
    /// When the number is 0.
    #[must_use]
    pub fn permits(mut self, permits: u32) -> Self {
        assert!(permits > 0, "`permits` is a whole number from 1 to 4294967295");
        self.permits = permits;
        self
    }
}

impl<S> Layer<S> for RateLimiterLayer {
    type Service = RateLimiterService<S>;

    fn layer(&self, inner: S) -> Self::Service {
        RateLimiterService { inner, limiter: self.instance.clone(), permits: self.permits }
    }
}

/// A service behind a [`RateLimiterLayer`].
#[derive(Debug, Clone)]
pub struct RateLimiterService<S> {
    inner: S,
    limiter: RateLimiter,
    permits: u32,
}

impl<S: Service<R> + Clone, R> Service<R> for RateLimiterService<S> {
    type Response = S::Response;
    type Error = CallError<S::Error>;
    type Future = RateLimiterFuture<S, R>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.inner.poll_ready(cx).map_err(CallError::Inner)
    }

    fn call(&mut self, request: R) -> Self::Future {
        let mut span = CallSpan::start(|| self.limiter.names());
        let turn = span.run_body(|| self.begin(request));
        RateLimiterFuture { turn, span }
    }
}

impl<S> RateLimiterService<S> {
    fn begin<R>(&mut self, request: R) -> Turn<WaitInTime, (), S, R, S::Future>
    where
        S: Service<R> + Clone,
    {
        let due = match self.limiter.due() {
            Ok(due) => due,
            Err(over) => return Turn::refused(over),
        };
        let now = self.limiter.clock().now();
        let longest = longest_wait(due.as_ref(), now);
        match self.limiter.begin(self.permits, longest, now) {
            Ok(None) => Turn::running((), self.inner.call(request)),
            Ok(Some(ticket)) => {
                let wait = self.limiter.wait(ticket);
                let next = self.inner.clone();
                Turn::waiting(wait.before(due), mem::replace(&mut self.inner, next), request)
            }
            Err(refused) => Turn::refused(refused),
        }
    }
}

pin_project_lite::pin_project! {
    /// The answer of a [`RateLimiterService`].
    ///
    /// # Cancel safety
    ///
    /// Dropping it while it waits gives the reservation back; later it drops the call, and the
    /// permissions are spent.
    #[must_use = "futures do nothing unless awaited"]
    pub struct RateLimiterFuture<S: Service<R>, R> {
        #[pin]
        turn: Turn<WaitInTime, (), S, R, S::Future>,
        span: CallSpan,
    }
}

impl<S: Service<R>, R> Future for RateLimiterFuture<S, R> {
    type Output = Result<S::Response, CallError<S::Error>>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        this.span.poll_call(this.turn, cx)
    }
}

impl<S: Service<R>, R> fmt::Debug for RateLimiterFuture<S, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RateLimiterFuture").finish_non_exhaustive()
    }
}
