//! What travels with a call into the calls that it makes: its deadline and its idempotency key.
//!
//! Everything in the [`Context`] is opt-in at an attribute or in code; a program that asks for none of
//! it pays one relaxed load per call.

use std::{
    cell::RefCell,
    future::Future,
    marker::PhantomData,
    pin::Pin,
    sync::{
        Arc, LazyLock,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context as TaskContext, Poll},
    time::Duration,
};

use crate::{
    IdempotencyKey,
    clock::{Clock, saturating_nanos},
    error::TimedOut,
};

thread_local! {
    /// What the code that runs on this thread was told: it is set around each poll.
    static PRESENT: RefCell<Option<Context>> = const { RefCell::new(None) };
}

/// Whether anybody ever published anything.
static EVER: AtomicBool = AtomicBool::new(false);

/// What a call tells the calls that it makes.
#[derive(Debug, Clone, Default)]
pub(crate) struct Context {
    deadline: Option<Deadline>,
    idempotency_key: Option<IdempotencyKey>,
}

/// When everything below has to be over, in nanoseconds on a clock.
#[derive(Debug, Clone)]
pub(crate) struct Deadline {
    at: u64,
    clock: Clock,
    /// The name of the instance whose time it is.
    owner: Arc<str>,
}

impl Deadline {
    pub(crate) fn new(at: u64, clock: &Clock, owner: &Arc<str>) -> Self {
        Self { at, clock: clock.clone(), owner: Arc::clone(owner) }
    }

    /// The same time on another clock: what is left there is left here.
    fn on(&self, clock: &Clock) -> u64 {
        if self.clock.is_same(clock) {
            self.at
        } else {
            clock.now().saturating_add(self.at.saturating_sub(self.clock.now()))
        }
    }
}

impl Context {
    /// What the present task was told.
    pub(crate) fn present() -> Option<Self> {
        Self::read(Self::clone)
    }

    #[inline]
    fn read<R>(read: impl FnOnce(&Self) -> R) -> Option<R> {
        if is_used() { Self::read_present(read) } else { None }
    }

    #[cold]
    fn read_present<R>(read: impl FnOnce(&Self) -> R) -> Option<R> {
        // Nothing is present to who runs while its thread takes down what it had.
        PRESENT.try_with(|present| present.borrow().as_ref().map(read)).ok().flatten()
    }

    /// The deadline for a call that starts now and takes its time from `clock`.
    fn due(&self, clock: &Clock) -> Option<Due> {
        let deadline = self.deadline.as_ref()?;
        let at = deadline.on(clock);
        let owner = Arc::clone(&deadline.owner);
        Some(Due { at, had: at.saturating_sub(clock.now()), owner })
    }

    /// The key of the logical call that the present code is part of.
    pub(crate) fn present_key() -> Option<IdempotencyKey> {
        Self::read(|context| context.idempotency_key)?
    }

    /// What a logical call that begins here tells the calls that it makes: a new key.
    #[cold]
    pub(crate) fn of_new_call() -> Self {
        Self::present().unwrap_or_default().keyed(IdempotencyKey::random())
    }

    /// Names the logical call, in place of the name that is there.
    pub(crate) fn keyed(mut self, key: IdempotencyKey) -> Self {
        self.idempotency_key = Some(key);
        self
    }

    /// The present context with this deadline, or the one that is there and earlier.
    #[cold]
    pub(crate) fn within(deadline: &Deadline) -> Self {
        let Deadline { at, clock, owner } = deadline;
        Self::present().unwrap_or_default().until(*at, clock, owner)
    }

    /// Adds a deadline, which never is later than the one that is there.
    pub(crate) fn until(mut self, at: u64, clock: &Clock, owner: &Arc<str>) -> Self {
        if self.deadline.as_ref().is_none_or(|present| at < present.on(clock)) {
            self.deadline = Some(Deadline::new(at, clock, owner));
        }
        self
    }

    /// Runs `function` with this context as the present one.
    pub(crate) fn enter<R>(self, function: impl FnOnce() -> R) -> R {
        let _present = self.become_present();
        function()
    }

    /// Makes this the present context until what is returned is dropped.
    #[cold]
    pub(crate) fn become_present(self) -> Presence {
        // Looked at first: all cores read it, and a store takes it away from them.
        if !EVER.load(Ordering::Relaxed) {
            EVER.store(true, Ordering::Relaxed);
        }
        let before = PRESENT.try_with(|present| present.replace(Some(self)));
        Presence { before: before.ok().flatten(), thread: PhantomData }
    }
}

/// Keeps a context the present one of its thread, in place of the one before.
#[must_use = "dropping it brings the context before back"]
pub(crate) struct Presence {
    before: Option<Context>,
    /// It ends on the thread on which it began.
    thread: PhantomData<*const ()>,
}

impl Drop for Presence {
    fn drop(&mut self) {
        let before = self.before.take();
        // Bound, so that the context goes after the borrow.
        let last = PRESENT.try_with(|present| present.replace(before));
        drop(last);
    }
}

pin_project_lite::pin_project! {
    /// A future that takes a context along to wherever it is polled.
    pub(crate) struct Carried<F> {
        context: Option<Context>,
        #[pin]
        future: F,
    }
}

/// Lets a future take a context along, if there is one.
pub(crate) fn carry<F: Future>(context: Option<Context>, future: F) -> Carried<F> {
    Carried { context, future }
}

impl<F: Future> Future for Carried<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut TaskContext<'_>) -> Poll<F::Output> {
        let this = self.project();
        match this.context {
            Some(context) => context.clone().enter(|| this.future.poll(cx)),
            None => this.future.poll(cx),
        }
    }
}

/// The deadline that one call found around it, on the call's own clock.
#[derive(Debug)]
pub(crate) struct Due {
    at: u64,
    /// What was left when the call started.
    had: u64,
    owner: Arc<str>,
}

impl Due {
    pub(crate) fn at(&self) -> u64 {
        self.at
    }

    /// Whether it was over before the call started.
    pub(crate) fn came_too_late(&self) -> bool {
        self.had == 0
    }

    pub(crate) fn is_over(&self, now: u64) -> bool {
        now >= self.at
    }

    /// Ends what would start too late. `clock` is the one that the deadline was asked for by.
    pub(crate) fn in_time(&self, clock: &Clock) -> Result<(), TimedOut> {
        if self.is_over(clock.now()) { Err(self.exceeded()) } else { Ok(()) }
    }

    /// Nanoseconds that are left.
    pub(crate) fn left(&self, now: u64) -> u64 {
        self.at.saturating_sub(now)
    }

    pub(crate) fn exceeded(&self) -> TimedOut {
        TimedOut::of_deadline(Arc::clone(&self.owner).into(), Duration::from_nanos(self.had))
    }
}

/// How long a layer may wait, in nanoseconds, so that there is time left afterwards.
pub(crate) fn longest_wait(due: Option<&Due>, now: u64) -> u64 {
    due.map_or(u64::MAX, |due| due.left(now).saturating_sub(1))
}

/// The deadline for a call that starts now and takes its time from `clock`.
#[inline]
pub(crate) fn due(clock: &Clock) -> Option<Due> {
    Context::read(|context| context.due(clock))?
}

/// Whether a call may find something present. Most programs publish nothing, and a call that asks first
/// has no room to keep for what it would find.
#[inline]
pub(crate) fn is_used() -> bool {
    EVER.load(Ordering::Relaxed)
}

/// The deadline for a call that is not to be made at all once it is over.
///
/// # Errors
///
/// [`TimedOut`] when the deadline is over.
pub(crate) fn due_in_time(clock: &Clock) -> Result<Option<Due>, TimedOut> {
    let due = due(clock);
    due.as_ref().map_or(Ok(()), |due| due.in_time(clock))?;
    Ok(due)
}

/// Returns how much time is left to the present call: zero once it is over, `None` when nobody set a
/// deadline.
///
/// A deadline is set by `#[time_limiter(.., deadline)]`, `#[retry(.., deadline)]`,
/// [`StackBuilder::deadline`](crate::StackBuilder::deadline) or [`with_deadline`], and is never later
/// than the one around it. A time limiter or retry that is switched off sets none. Every annotated
/// function and [`Stack`](crate::Stack) that is called below keeps to it, with no flag of its own:
///
/// - A call that would start when it is over returns [`TimedOut`] at once; no layer counts anything.
/// - A call under way, its wait for a bulkhead slot included, is cut when it is over: [`TimedOut`],
///   which the circuit breaker counts as a failure like any timeout. The time limiter counts its own
///   timeouts only. An error that comes when the time is over is a timeout too; a success still wins.
/// - A wait for a rate limiter that cannot end in time is refused at once.
/// - A retry starts no attempt whose wait would end too late, and returns the last error instead.
///
/// An instance that is used alone, also as a tower layer, keeps to it in what it does itself: a
/// [`Retry`](crate::Retry) between its attempts, a [`TimeLimiter`](crate::TimeLimiter) as if it were
/// its limit, [`RateLimiter`](crate::RateLimiter) and [`Bulkhead`](crate::Bulkhead) while a call
/// waits. They cut no call that runs, and a disabled instance does nothing of that.
///
/// [`TimedOut::is_deadline`] tells such a timeout from a time limiter's own.
///
/// The deadline follows the call into [`Resilience::spawn`](crate::Resilience::spawn), detached bodies
/// and bodies on a thread pool, but not into a bare `tokio::spawn`: there is none in such a task.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// assert_eq!(resilience::deadline(), None);
/// let left = resilience::with_deadline(Duration::from_secs(2), async {
///     resilience::deadline() // to be sent along in a header, for example
/// });
/// assert!(left.await.is_some_and(|left| left <= Duration::from_secs(2)));
/// # }
/// ```
pub fn deadline() -> Option<Duration> {
    Context::read(|context| {
        let deadline = context.deadline.as_ref()?;
        Some(Duration::from_nanos(deadline.at.saturating_sub(deadline.clock.now())))
    })?
}

/// Runs `future` under a deadline that ends when `left` has passed, or earlier where one around it
/// does. The time is the system clock's and counts from the first poll.
///
/// For a deadline that comes from outside, such as a request's header. It cuts short the protected
/// calls that `future` makes, see [`deadline`], and not `future` itself. Errors name its owner
/// `caller`.
///
/// # Cancel safety
///
/// As safe as `future` itself.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use resilience::{CallError, Error, Stack};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let stack = Stack::builder().build();
/// let call = stack.call(std::future::pending::<Result<(), std::io::Error>>);
/// let error = resilience::with_deadline(Duration::from_millis(5), call).await.unwrap_err();
/// assert_eq!(error.to_string(), "Deadline of 'caller' was exceeded");
/// # }
/// ```
pub async fn with_deadline<F: Future>(left: Duration, future: F) -> F::Output {
    static CALLER: LazyLock<Arc<str>> = LazyLock::new(|| "caller".into());
    let clock = Clock::system();
    let at = clock.now().saturating_add(saturating_nanos(left));
    let context = Context::present().unwrap_or_default().until(at, &clock, &CALLER);
    carry(Some(context), future).await
}

#[cfg(test)]
mod tests {
    use std::panic::AssertUnwindSafe;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn owner(name: &str) -> Arc<str> {
        name.into()
    }

    #[test]
    fn an_enclosing_deadline_is_never_moved_out() {
        let (clock, hand) = Clock::manual(Duration::ZERO);
        let outer = Context::default().until(1_000, &clock, &owner("outer"));
        outer.clone().until(5_000, &clock, &owner("inner")).enter(|| {
            assert_eq!(deadline(), Some(Duration::from_micros(1)));
            hand.advance(Duration::from_nanos(400));
            let due = due(&clock).unwrap();
            assert_eq!((due.at(), due.left(400), &*due.owner), (1_000, 600, "outer"));
        });
        outer.until(700, &clock, &owner("inner")).enter(|| {
            assert_eq!(deadline(), Some(Duration::from_nanos(300)));
            hand.advance(SECOND);
            assert_eq!(deadline(), Some(Duration::ZERO));
            assert!(due(&clock).unwrap().came_too_late());
        });
        assert_eq!(deadline(), None);
    }

    #[test]
    fn another_clock_has_as_much_time_left() {
        let (one, hand) = Clock::manual(Duration::ZERO);
        let (other, _) = Clock::manual(SECOND * 1_000);
        let context = Context::default().until(saturating_nanos(SECOND * 3), &one, &owner("o"));
        hand.advance(SECOND);
        context.enter(|| {
            let due = due(&other).unwrap();
            assert_eq!(due.at(), saturating_nanos(SECOND * 1_002));
            assert_eq!(due.had, saturating_nanos(SECOND * 2));
            let later = Context::present().unwrap().until(due.at() + 1, &other, &owner("later"));
            assert_eq!(&*later.deadline.unwrap().owner, "o");
        });
    }

    #[test]
    fn a_panic_leaves_no_context_behind() {
        let (clock, _) = Clock::manual(Duration::ZERO);
        let context = Context::default().until(1, &clock, &owner("o"));
        let panics = AssertUnwindSafe(|| context.enter(|| panic!("inside")));
        let panicked = std::panic::catch_unwind(panics);
        assert!(panicked.is_err());
        assert_eq!(deadline(), None);
    }

    #[test]
    fn a_call_while_its_thread_takes_down_what_it_had_finds_nothing_present() {
        struct Last;

        impl Drop for Last {
            fn drop(&mut self) {
                assert_eq!(deadline(), None);
                assert!(
                    crate::Bulkhead::new("b", crate::BulkheadConfig::default())
                        .call_blocking(|| Ok::<_, ()>(()))
                        .is_ok()
                );
                Context::default().enter(|| ());
            }
        }

        thread_local! {
            static LAST: std::cell::Cell<Option<Last>> = const { std::cell::Cell::new(None) };
        }

        let ended = std::thread::spawn(|| {
            LAST.set(Some(Last));
            Context::default().enter(|| ());
        });
        ended.join().unwrap();
    }
}
