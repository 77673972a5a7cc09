//! Time as the patterns see it: nanoseconds on one monotonic line.

mod system;

use std::{
    collections::BTreeMap,
    fmt,
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, Waker},
    time::Duration,
};

use crate::sync::Mutex;

const NANOS_PER_SECOND: u64 = 1_000_000_000;

/// Where instances take their time from.
///
/// The system clock is monotonic: it starts at the wall time of its first use and from then on
/// follows [`std::time::Instant`], so setting the machine's clock changes nothing. With the feature
/// `test-util` it follows tokio's clock, also when that is paused. With the feature `tsc`, unless that
/// one is on, it follows the processor's counter of cycles, which is faster to read on some machines and not
/// steady on all: measure where you run.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use resilience::Clock;
///
/// let (clock, hand) = Clock::manual(Duration::from_secs(1_700_000_000));
/// hand.advance(Duration::from_millis(1));
/// assert_eq!(clock.now(), 1_700_000_000_001_000_000);
/// ```
#[derive(Clone, Default)]
pub struct Clock {
    manual: Option<ManualClock>,
}

impl Clock {
    /// The process's monotonic clock.
    pub const fn system() -> Self {
        Self { manual: None }
    }

    /// A clock that stands at `start` after the Unix epoch until its hand is moved.
    pub fn manual(start: Duration) -> (Self, ManualClock) {
        let hand = ManualClock {
            inner: Arc::new(Mutex::new(Manual {
                now: saturating_nanos(start),
                next_id: 0,
                sleepers: BTreeMap::new(),
            })),
        };
        (Self { manual: Some(hand.clone()) }, hand)
    }

    /// Nanoseconds since the Unix epoch on the clock's monotonic line.
    #[inline]
    pub fn now(&self) -> u64 {
        match &self.manual {
            None => system::now(),
            Some(hand) => hand.now(),
        }
    }

    /// Whether both are the system's clock, or the same manual one.
    pub(crate) fn is_same(&self, other: &Clock) -> bool {
        match (&self.manual, &other.manual) {
            (None, None) => true,
            (Some(hand), Some(other)) => Arc::ptr_eq(&hand.inner, &other.inner),
            _ => false,
        }
    }

    /// For a manual clock: what a thread waits on for its hand to reach `due`.
    pub(crate) fn wait_for_hand(&self, due: u64) -> Option<ManualSleep> {
        Some(ManualSleep { hand: self.manual.clone()?, due, id: None })
    }

    /// Waits until `duration` has passed on this clock.
    ///
    /// # Panics
    ///
    /// On the system clock, when polled outside of a tokio runtime with time enabled.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future ends the wait and leaves nothing behind.
    pub fn sleep(&self, duration: Duration) -> Sleep {
        match &self.manual {
            None => Sleep { inner: Inner::Tokio { sleep: tokio::time::sleep(duration) } },
            Some(hand) => hand.sleep_until(self.now().saturating_add(saturating_nanos(duration))),
        }
    }

    /// Waits until this clock shows `due`.
    ///
    /// Whoever has read the time to know how long to wait uses this: what passes between reading
    /// and sleeping does not make the wait longer.
    pub(crate) fn sleep_until(&self, due: u64) -> Sleep {
        match &self.manual {
            None => self.sleep(Duration::from_nanos(due.saturating_sub(self.now()))),
            Some(hand) => hand.sleep_until(due),
        }
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.manual.is_none() { "Clock::system" } else { "Clock::manual" })
    }
}

/// A duration in nanoseconds; what is beyond 584 years is the largest value.
pub(crate) fn saturating_nanos(duration: Duration) -> u64 {
    // Not by `as_nanos`, whose 128 bits cost more than reading the clock may.
    duration
        .as_secs()
        .saturating_mul(NANOS_PER_SECOND)
        .saturating_add(u64::from(duration.subsec_nanos()))
}

/// The hand of a [`Clock::manual`] clock.
#[derive(Clone)]
pub struct ManualClock {
    inner: Arc<Mutex<Manual>>,
}

struct Manual {
    now: u64,
    next_id: u64,
    sleepers: BTreeMap<(u64, u64), Waker>,
}

impl ManualClock {
    /// Apart from [`Clock::now`]: the code of the lock would go into every call that reads a clock.
    #[cold]
    fn now(&self) -> u64 {
        self.inner.lock().now
    }

    fn sleep_until(&self, due: u64) -> Sleep {
        Sleep { inner: Inner::Manual { sleep: ManualSleep { hand: self.clone(), due, id: None } } }
    }

    /// When the first of those who wait is to be woken.
    #[cfg(feature = "cli")]
    pub(crate) fn next_due(&self) -> Option<u64> {
        self.inner.lock().sleepers.first_key_value().map(|((due, _), _)| *due)
    }

    /// Moves the clock forward and wakes what was waiting for a time up to then.
    pub fn advance(&self, by: Duration) {
        let due = {
            let mut manual = self.inner.lock();
            manual.now = manual.now.saturating_add(saturating_nanos(by));
            let after_now = (manual.now.saturating_add(1), 0);
            let later = manual.sleepers.split_off(&after_now);
            std::mem::replace(&mut manual.sleepers, later)
        };
        due.into_values().for_each(Waker::wake);
    }
}

impl fmt::Debug for ManualClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ManualClock").field("now", &self.inner.lock().now).finish_non_exhaustive()
    }
}

pin_project_lite::pin_project! {
    /// The future of [`Clock::sleep`].
    #[must_use = "futures do nothing unless awaited"]
    pub struct Sleep {
        #[pin]
        inner: Inner,
    }
}

pin_project_lite::pin_project! {
    #[project = InnerProjection]
    enum Inner {
        Tokio { #[pin] sleep: tokio::time::Sleep },
        Manual { sleep: ManualSleep },
    }
}

pub(crate) struct ManualSleep {
    hand: ManualClock,
    due: u64,
    id: Option<u64>,
}

impl Future for Sleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        match self.project().inner.project() {
            InnerProjection::Tokio { sleep } => sleep.poll(cx),
            InnerProjection::Manual { sleep } => sleep.poll(cx),
        }
    }
}

impl fmt::Debug for Sleep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sleep").finish_non_exhaustive()
    }
}

impl ManualSleep {
    pub(crate) fn poll(&mut self, cx: &Context<'_>) -> Poll<()> {
        let waker = cx.waker().clone();
        let mut manual = self.hand.inner.lock();
        if manual.now >= self.due {
            return Poll::Ready(());
        }
        let id = *self.id.get_or_insert_with(|| {
            manual.next_id += 1;
            manual.next_id
        });
        // The last waker goes after the lock: dropping it may drop a task that sleeps by this clock.
        let last = manual.sleepers.insert((self.due, id), waker);
        drop(manual);
        drop(last);
        Poll::Pending
    }
}

impl Drop for ManualSleep {
    fn drop(&mut self) {
        if let Some(id) = self.id {
            // Bound, so that the waker goes after the lock.
            let last = self.hand.inner.lock().sleepers.remove(&(self.due, id));
            drop(last);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::{owning_waker, poll};

    #[test]
    fn the_system_clock_never_goes_back() {
        let clock = Clock::system();
        let before = clock.now();
        assert!(clock.now() >= before);
    }

    #[tokio::test]
    async fn a_sleep_on_a_manual_clock_ends_when_its_time_has_come() {
        let (clock, hand) = Clock::manual(Duration::ZERO);
        let sleeper = tokio::spawn({
            let clock = clock.clone();
            async move { clock.sleep(Duration::from_secs(1)).await }
        });
        tokio::task::yield_now().await;
        hand.advance(Duration::from_millis(999));
        tokio::task::yield_now().await;
        assert!(!sleeper.is_finished());
        hand.advance(Duration::from_millis(1));
        sleeper.await.unwrap();
        assert!(hand.inner.lock().sleepers.is_empty());
    }

    #[test]
    fn the_last_waker_of_a_sleep_may_own_another_one() {
        let (clock, _hand) = Clock::manual(Duration::ZERO);
        let sleep = || {
            let mut sleep = Box::pin(clock.sleep(Duration::from_secs(1)));
            assert!(poll(sleep.as_mut()).is_pending());
            sleep
        };
        let sleep_for_a_sleeper = || {
            let mut outer = sleep();
            let waker = owning_waker(sleep());
            assert!(outer.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
            outer
        };
        assert!(poll(sleep_for_a_sleeper().as_mut()).is_pending());
        drop(sleep_for_a_sleeper());
    }

    #[tokio::test]
    async fn a_dropped_sleep_leaves_no_waker_behind() {
        let (clock, hand) = Clock::manual(Duration::ZERO);
        let mut sleep = Box::pin(clock.sleep(Duration::from_secs(1)));
        assert!(std::future::poll_fn(|cx| Poll::Ready(sleep.as_mut().poll(cx))).await.is_pending());
        assert_eq!(hand.inner.lock().sleepers.len(), 1);
        drop(sleep);
        assert!(hand.inner.lock().sleepers.is_empty());
    }
}
