use std::{
    fmt,
    future::Future,
    pin::Pin,
    task::{Context, Poll},
};

use tower_layer::Layer;
use tower_service::Service;

use super::by_name::constructors;
use crate::{
    CallError, TimeLimiter, context,
    error::TimedOut,
    time_limiter::Limited,
    trace::{CallSpan, Named},
};

/// Cuts short what takes a service too long; the time runs from `call` to the response's head. It
/// keeps to the [`deadline`](crate::deadline) around the call too.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use resilience::{CallError, Error, TimeLimiter, TimeLimiterConfig, tower::TimeLimiterLayer};
/// use tower::{Layer, ServiceExt, service_fn};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), resilience::ConfigError> {
/// let config = TimeLimiterConfig::builder().timeout_duration(Duration::from_millis(5)).build()?;
/// let layer = TimeLimiterLayer::new(TimeLimiter::new("quote", config));
/// let quote = layer.layer(service_fn(|_: u32| std::future::pending::<Result<(), ()>>()));
/// let answer = quote.oneshot(7).await;
/// assert!(matches!(answer, Err(CallError::Resilience(Error::TimedOut(_)))));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct TimeLimiterLayer {
    instance: TimeLimiter,
}

impl TimeLimiterLayer {
    constructors!(TimeLimiter, "a time limiter";);
}

impl<S> Layer<S> for TimeLimiterLayer {
    type Service = TimeLimiterService<S>;

    fn layer(&self, inner: S) -> Self::Service {
        TimeLimiterService { inner, limiter: self.instance.clone() }
    }
}

/// A service behind a [`TimeLimiterLayer`].
#[derive(Debug, Clone)]
pub struct TimeLimiterService<S> {
    inner: S,
    limiter: TimeLimiter,
}

impl<S: Service<R>, R> Service<R> for TimeLimiterService<S> {
    type Response = S::Response;
    type Error = CallError<S::Error>;
    type Future = TimeLimiterFuture<S::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.inner.poll_ready(cx).map_err(CallError::Inner)
    }

    fn call(&mut self, request: R) -> Self::Future {
        let due = context::due(self.limiter.clock());
        let mut span = CallSpan::start(|| self.limiter.names());
        let call = || self.inner.call(request);
        let call = match span.run_body(|| Limited::under(due, self.limiter.clone(), call)) {
            Ok(call) => Bounded::Within { call },
            Err(over) => Bounded::TooLate { over: Some(over) },
        };
        TimeLimiterFuture { call, span }
    }
}

pin_project_lite::pin_project! {
    /// The answer of a [`TimeLimiterService`].
    ///
    /// # Panics
    ///
    /// On the system clock, outside of a tokio runtime, when the call is not ready at once.
    ///
    /// # Cancel safety
    ///
    /// Dropping it drops the call; nothing is counted.
    #[must_use = "futures do nothing unless awaited"]
    pub struct TimeLimiterFuture<F> {
        #[pin]
        call: Bounded<F>,
        span: CallSpan,
    }
}

pin_project_lite::pin_project! {
    #[project = At]
    enum Bounded<F> {
        Within { #[pin] call: Limited<F, TimeLimiter> },
        // The deadline around the call was over before it began.
        TooLate { over: Option<TimedOut> },
    }
}

impl<F: Future<Output = Result<T, E>>, T, E> Future for Bounded<F> {
    type Output = Result<T, CallError<E>>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match self.project() {
            At::Within { call } => call.poll(cx),
            At::TooLate { over } => over
                .take()
                .map_or(Poll::Pending, |over| Poll::Ready(Err(CallError::Resilience(over.into())))),
        }
    }
}

impl<F: Future<Output = Result<T, E>>, T, E> Future for TimeLimiterFuture<F> {
    type Output = Result<T, CallError<E>>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        this.span.poll_call(this.call, cx)
    }
}

impl<F> fmt::Debug for TimeLimiterFuture<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TimeLimiterFuture").finish_non_exhaustive()
    }
}
