//! The protected call: a future that is ready at once, and how it is driven.

use std::{
    error::Error,
    fmt,
    future::{Future, Ready, poll_fn, ready},
    hint::black_box,
    pin::{Pin, pin},
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering::Relaxed},
    },
    task::{Context, Poll, Wake, Waker},
    thread::{self, Thread},
};

use tower::Service;

/// The error of the body, of a size that an error of a service might have.
#[derive(Debug, Clone, PartialEq)]
pub enum Failed {
    /// The body itself failed.
    Body,
    /// A layer of the library refused.
    Refused(resilience::Error),
}

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Body => f.write_str("failed"),
            Self::Refused(refusal) => refusal.fmt(f),
        }
    }
}

impl Error for Failed {}

impl From<resilience::Error> for Failed {
    fn from(refusal: resilience::Error) -> Self {
        Self::Refused(refusal)
    }
}

/// What the body returns.
pub type Answer = Result<u64, Failed>;

/// The body, ready at its first poll.
pub fn body(n: u64) -> Ready<Answer> {
    ready(Ok(black_box(n)))
}

/// Bodies of which every hundredth fails, whichever clone makes them.
pub fn one_in_a_hundred_fails() -> impl Fn() -> Ready<Answer> + Clone + Send + 'static {
    let calls = Arc::new(AtomicU32::new(1));
    move || {
        let fails = calls.fetch_add(1, Relaxed).is_multiple_of(100);
        ready(if fails { Err(Failed::Body) } else { Ok(black_box(1)) })
    }
}

/// A body that fails at once.
pub fn fails() -> Ready<Answer> {
    ready(Err(Failed::Body))
}

/// Drives a future that is ready at its first poll, without a runtime's own cost.
///
/// A macro, because a function would have the future moved into it, as `.await` has not.
///
/// # Panics
///
/// When the future is not ready: the row would measure something else.
#[macro_export]
macro_rules! now {
    ($future:expr) => {
        $crate::body::ready_now(::std::pin::pin!($future))
    };
}

/// What [`now!`] comes to.
///
/// # Panics
///
/// As the macro does.
#[inline]
pub fn ready_now<F: Future>(future: Pin<&mut F>) -> F::Output {
    match future.poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => output,
        Poll::Pending => unreachable!("nothing waits in this benchmark"),
    }
}

struct Unparks(Thread);

impl Wake for Unparks {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

thread_local! {
    static WAKER: Waker = Arc::new(Unparks(thread::current())).into();
}

/// Drives a future that may have to wait for another thread.
#[inline]
pub fn wait<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    WAKER.with(|waker| {
        let mut cx = Context::from_waker(waker);
        loop {
            if let Poll::Ready(output) = future.as_mut().poll(&mut cx) {
                return output;
            }
            thread::park();
        }
    })
}

/// The body as a service.
pub fn service()
-> impl Service<u64, Response = u64, Error = Failed, Future = Ready<Answer>> + Clone + Send + 'static
{
    tower::service_fn(body)
}

/// One request through a service that is ready at once and answers at once.
///
/// # Errors
///
/// The service's own, from its readiness or its answer.
///
/// # Panics
///
/// When the service is not ready: the row would measure something else.
#[inline]
pub fn serve<S: Service<u64>>(service: &mut S) -> Result<S::Response, S::Error> {
    match service.poll_ready(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(ready) => ready?,
        Poll::Pending => unreachable!("nothing waits in this benchmark"),
    }
    now!(service.call(black_box(1)))
}

/// One request through a service that may have to wait for another thread.
///
/// # Errors
///
/// The service's own, from its readiness or its answer.
#[inline]
pub fn serve_waiting<S: Service<u64>>(service: &mut S) -> Result<S::Response, S::Error> {
    wait(poll_fn(|cx| service.poll_ready(cx)))?;
    wait(service.call(black_box(1)))
}
