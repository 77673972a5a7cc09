use std::{
    future::{Future, poll_fn},
    pin::pin,
    sync::Arc,
    task::Poll,
    time::Duration,
};

use super::{
    super::{
        config::OnStoreFailure,
        instance::{RateLimiter, Ticket},
    },
    Global, Verdict,
};
use crate::{RequestNotPermitted, blocking, clock::saturating_nanos};

/// Sees a request through: the store is asked, and asked again when permissions are back, until the
/// clock reaches `due`. A ticket is for a wait in this process, which decides in the store's place.
///
/// # Cancel safety
///
/// Dropping it while the store is asked may leave the permissions spent.
pub(in super::super) async fn ask<S: Future<Output = ()>>(
    limiter: &RateLimiter,
    permits: u32,
    due: u64,
    sleep_until: impl Fn(u64) -> S,
) -> Result<Option<Ticket>, RequestNotPermitted> {
    let request = Request { limiter, permits, ended: false };
    let mut front = None;
    loop {
        // Looked up each time: a reload may have changed it.
        let Some(global) = limiter.global() else { return request.goes_on_here(due) };
        let began = limiter.clock().now();
        if front.is_none() && global.queue.is_taken() && !global.front_is_lost(began) {
            let had_time = began < due;
            let first_is_lost = front_is_lost(limiter, &global, due, &sleep_until);
            let end = either(first_is_lost, switched_off(limiter));
            front = global.queue.wait(end).await;
            let now = limiter.clock().now();
            if let Some(front) = &front {
                front.sleeps_until(now);
            }
            // The first place may come together with the end of the time.
            if now >= due && (front.is_none() || had_time) {
                // Those before were not let in either: to ask would be to overtake them.
                return request.refused(global.queue.front_sleeps_for(now));
            }
            continue;
        }
        let wait = match global.fetch(limiter, permits).await {
            Verdict::Taken { .. } => return request.granted(),
            Verdict::Refused { wait, .. } => wait,
            Verdict::Undecided { rests_for } => {
                return match global.policy {
                    OnStoreFailure::Open => request.granted(),
                    OnStoreFailure::Closed => request.refused(rests_for),
                    OnStoreFailure::Local => request.goes_on_here(due),
                };
            }
        };
        let now = limiter.clock().now();
        let back = wait.map_or(u64::MAX, |wait| now.saturating_add(saturating_nanos(wait)));
        if back > due {
            return request.refused(wait);
        }
        front = front.or_else(|| global.queue.enter());
        if let Some(front) = &front {
            front.sleeps_until(back);
        } else if !global.front_is_lost(now) {
            // What was told is for the first one. That will be another time.
            continue;
        }
        // Made before the look, and that after the place was taken: it misses no word of a change.
        let moved = limiter.moved();
        if limiter.global().is_some_and(|present| Arc::ptr_eq(&present, &global)) {
            either(sleep_until(back), moved).await;
        }
    }
}

/// Ends when the first one is not heard of any more, or at `due`.
async fn front_is_lost<S: Future<Output = ()>>(
    limiter: &RateLimiter,
    global: &Global,
    due: u64,
    sleep_until: impl Fn(u64) -> S,
) {
    loop {
        let now = limiter.clock().now();
        if now >= due || global.front_is_lost(now) {
            return;
        }
        sleep_until(global.front_is_lost_at().min(due)).await;
    }
}

/// Ends when the limit is not counted elsewhere any more.
async fn switched_off(limiter: &RateLimiter) {
    loop {
        // Made before the look: it misses no word of a change.
        let moved = limiter.moved();
        if limiter.global().is_none() {
            return;
        }
        moved.await;
    }
}

/// Ends with the first of two.
async fn either(one: impl Future<Output = ()>, other: impl Future<Output = ()>) {
    let (mut one, mut other) = (pin!(one), pin!(other));
    poll_fn(|cx| match one.as_mut().poll(cx) {
        Poll::Ready(()) => Poll::Ready(()),
        Poll::Pending => other.as_mut().poll(cx),
    })
    .await;
}

/// The same for a caller that blocks its thread and may have no runtime.
pub(in super::super) fn ask_blocking(
    limiter: &RateLimiter,
    permits: u32,
    due: u64,
) -> Result<Option<Ticket>, RequestNotPermitted> {
    blocking::block_on(limiter.clock(), |alarm| {
        ask(limiter, permits, due, move |until| alarm.sleep_until(until))
    })
}

/// A request on its way. One that is dropped before its end was given up.
struct Request<'l> {
    limiter: &'l RateLimiter,
    permits: u32,
    ended: bool,
}

impl Request<'_> {
    #[allow(clippy::unnecessary_wraps)] // as the other two ends
    fn granted(mut self) -> Result<Option<Ticket>, RequestNotPermitted> {
        self.ended = true;
        self.limiter.note_granted(self.permits);
        Ok(None)
    }

    fn refused(mut self, wait: Option<Duration>) -> Result<Option<Ticket>, RequestNotPermitted> {
        self.ended = true;
        Err(self.limiter.note_refused(self.permits, wait))
    }

    /// The engine in this process counts from here on.
    fn goes_on_here(mut self, due: u64) -> Result<Option<Ticket>, RequestNotPermitted> {
        self.ended = true;
        self.limiter.begin_here(self.permits, due)
    }
}

impl Drop for Request<'_> {
    fn drop(&mut self) {
        if !self.ended {
            self.limiter.note_cancelled();
        }
    }
}
