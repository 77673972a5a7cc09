use std::{pin::Pin, task::Poll, time::Duration};

use loom::sync::{
    Arc,
    atomic::{AtomicU32, Ordering::Relaxed},
};
use resilience::{Bulkhead, BulkheadConfig, BulkheadFull, Clock, ManualClock, bulkhead::Permit};

use crate::{block_on, explore, poll, race};

const WAIT: Duration = Duration::from_secs(1);

type Turn = Pin<Box<dyn Future<Output = Result<Permit, BulkheadFull>>>>;

fn bulkhead(max: u32) -> (Bulkhead, ManualClock) {
    let (clock, hand) = Clock::manual(Duration::ZERO);
    let config = BulkheadConfig::builder()
        .max_concurrent_calls(max)
        .max_wait_duration(WAIT)
        .build()
        .unwrap();
    (Bulkhead::with_clock("b", config, clock), hand)
}

/// One whose slots are all taken.
fn full<const MAX: usize>() -> (Bulkhead, [Permit; MAX], ManualClock) {
    let (bulkhead, hand) = bulkhead(u32::try_from(MAX).unwrap());
    let permits = [(); MAX].map(|()| bulkhead.try_acquire().unwrap());
    (bulkhead, permits, hand)
}

/// A call that stands in the queue.
fn queued(bulkhead: &Bulkhead) -> Turn {
    let bulkhead = bulkhead.clone();
    let mut turn: Turn = Box::pin(async move { bulkhead.acquire().await });
    assert!(poll(&mut turn).is_pending());
    turn
}

/// Whoever has left, nothing is taken or waiting.
fn assert_idle(bulkhead: &Bulkhead) {
    assert_eq!(bulkhead.waiting(), 0);
    assert_eq!(bulkhead.available_concurrent_calls(), bulkhead.max_concurrent_calls());
}

#[test]
fn l07_a_call_that_comes_to_wait_while_the_slot_is_freed_gets_it() {
    explore(|| {
        let (bulkhead, [permit], _hand) = full();
        let ((), got) = race(move || drop(permit), || block_on(bulkhead.acquire()));
        assert_eq!(bulkhead.available_concurrent_calls(), 0);
        assert!(bulkhead.try_acquire().is_err());
        drop(got.unwrap());
        assert_idle(&bulkhead);
    });
}

#[test]
fn a_waiting_call_that_is_dropped_when_granted_passes_the_slot_on() {
    explore(|| {
        let (bulkhead, [permit], _hand) = full();
        let first = queued(&bulkhead);
        let second = queued(&bulkhead);
        let ((), ((), got)) =
            race(move || drop(permit), || race(move || drop(first), || block_on(second)));
        assert_eq!(bulkhead.available_concurrent_calls(), 0);
        drop(got.unwrap());
        assert_idle(&bulkhead);
        assert_eq!(bulkhead.metrics().cancelled, 1);
    });
}

#[test]
fn a_waiting_call_that_is_dropped_when_granted_leaves_the_slot_free() {
    explore(|| {
        let (bulkhead, [permit], _hand) = full();
        let waiting = queued(&bulkhead);
        race(move || drop(permit), || drop(waiting));
        assert_idle(&bulkhead);
    });
}

#[test]
fn slots_that_two_threads_free_go_to_those_who_wait_in_the_order_of_the_queue() {
    explore(|| {
        let (bulkhead, [one, other], _hand) = full();
        let mut first = queued(&bulkhead);
        let second = queued(&bulkhead);
        let ((), ((), later)) = race(
            move || drop(one),
            || {
                race(
                    move || drop(other),
                    || {
                        let later = block_on(second);
                        assert!(
                            poll(&mut first).is_ready(),
                            "the second in the queue overtook the first"
                        );
                        later
                    },
                )
            },
        );
        // The other slot is free already: the poll above dropped the permit.
        drop(later.unwrap());
        assert_idle(&bulkhead);
    });
}

#[test]
fn never_more_than_the_maximum_are_inside() {
    explore(|| {
        let (bulkhead, _hand) = bulkhead(1);
        let inside = Arc::new(AtomicU32::new(0));
        let call = |bulkhead: &Bulkhead, inside: &AtomicU32| {
            let permit = block_on(bulkhead.acquire()).unwrap();
            assert_eq!(inside.fetch_add(1, Relaxed), 0);
            inside.fetch_sub(1, Relaxed);
            drop(permit);
        };
        let (other, there) = (bulkhead.clone(), Arc::clone(&inside));
        race(move || call(&other, &there), || call(&bulkhead, &inside));
        assert_idle(&bulkhead);
    });
}

#[test]
fn a_higher_maximum_and_a_freed_slot_let_in_who_waits_once() {
    explore(|| {
        let (bulkhead, [permit], _hand) = full();
        let waiting = queued(&bulkhead);
        let other = bulkhead.clone();
        let ((), ((), got)) = race(
            move || drop(permit),
            || race(move || other.change_max_concurrent_calls(2), || block_on(waiting)),
        );
        assert_eq!(bulkhead.available_concurrent_calls(), 1);
        drop(got.unwrap());
        assert_idle(&bulkhead);
    });
}

#[test]
fn a_lower_maximum_lets_nobody_in_above_it_and_loses_nobody() {
    explore(|| {
        let (bulkhead, [one, other], _hand) = full();
        let mut waiting = queued(&bulkhead);
        let lowered = bulkhead.clone();
        race(move || lowered.change_max_concurrent_calls(1), || drop(one));
        // Granted before the maximum went down, or still waiting; the other slot is taken yet.
        let early = poll(&mut waiting);
        assert_eq!(bulkhead.available_concurrent_calls(), 0);
        assert!(bulkhead.try_acquire().is_err());
        drop(other);
        let permit = match early {
            Poll::Ready(permit) => permit,
            Poll::Pending => block_on(waiting),
        };
        assert!(bulkhead.try_acquire().is_err());
        drop(permit.unwrap());
        assert_idle(&bulkhead);
    });
}

#[test]
fn a_call_that_asks_while_the_slot_is_freed_has_it_or_the_next_one_has() {
    explore(|| {
        let (bulkhead, [permit], _hand) = full();
        let ((), asked) = race(move || drop(permit), || bulkhead.try_acquire());
        let next = bulkhead.try_acquire();
        assert_ne!(asked.is_ok(), next.is_ok());
        assert!(bulkhead.try_acquire().is_err());
        drop((asked, next));
        assert_idle(&bulkhead);
    });
}

#[test]
fn a_call_that_asks_while_the_slot_is_freed_does_not_overtake_the_queue() {
    explore(|| {
        let (bulkhead, [permit], _hand) = full();
        let mut waiting = queued(&bulkhead);
        let ((), asked) = race(move || drop(permit), || bulkhead.try_acquire());
        assert!(asked.is_err());
        assert!(poll(&mut waiting).is_ready());
        assert_idle(&bulkhead);
    });
}

#[test]
fn a_wait_that_ends_while_the_slot_is_freed_has_it_or_leaves_it_free() {
    explore(|| {
        let (bulkhead, [permit], hand) = full();
        let waiting = queued(&bulkhead);
        let ((), ((), got)) =
            race(move || drop(permit), || race(move || hand.advance(WAIT), || block_on(waiting)));
        assert_eq!(bulkhead.available_concurrent_calls(), u32::from(got.is_err()));
        drop(got);
        assert_idle(&bulkhead);
    });
}

#[test]
fn a_wait_that_ends_while_the_slot_is_freed_keeps_it_from_nobody() {
    explore(|| {
        let (bulkhead, [permit], hand) = full();
        let late = queued(&bulkhead);
        hand.advance(WAIT / 2);
        let next = queued(&bulkhead);
        hand.advance(WAIT / 2);
        let ((), ((), got)) =
            race(move || drop(permit), || race(move || drop(block_on(late)), || block_on(next)));
        drop(got.unwrap());
        assert_idle(&bulkhead);
    });
}

#[test]
fn a_slot_without_a_guard_that_two_threads_give_back_is_free_once() {
    explore(|| {
        let (bulkhead, _hand) = bulkhead(2);
        let _held = bulkhead.try_acquire().unwrap();
        assert!(bulkhead.try_acquire_permission());
        let other = bulkhead.clone();
        race(move || other.on_complete(), || bulkhead.release_permission());
        assert_eq!(bulkhead.available_concurrent_calls(), 1);
    });
}

/// One that refuses at once where all slots are taken.
fn impatient(max: u32) -> Bulkhead {
    let config = BulkheadConfig::builder().max_concurrent_calls(max).build().unwrap();
    Bulkhead::new("b", config)
}

#[test]
fn without_a_wait_one_of_two_has_the_slot_and_the_other_is_refused_or_comes_after_it() {
    explore(|| {
        let bulkhead = impatient(1);
        let (one, other) = (bulkhead.clone(), bulkhead.clone());
        let enter = |bulkhead: Bulkhead| move || bulkhead.try_acquire().map(drop).is_ok();
        let (one, other) = race(enter(one), enter(other));
        assert!(one || other);
        assert_idle(&bulkhead);
        let metrics = bulkhead.metrics();
        assert_eq!(metrics.permitted, u64::from(one) + u64::from(other));
        assert_eq!(metrics.rejected, 2 - metrics.permitted);
        assert_eq!(metrics.finished, metrics.permitted);
    });
}

#[test]
fn a_look_at_a_bulkhead_takes_no_slot_and_loses_none() {
    explore(|| {
        let bulkhead = impatient(1);
        let (calls, looks) = (bulkhead.clone(), bulkhead.clone());
        let ((), seen) = race(
            move || drop(calls.try_acquire().unwrap()),
            move || looks.metrics().available_concurrent_calls,
        );
        assert!(seen <= 1);
        assert_idle(&bulkhead);
    });
}

#[test]
fn a_bulkhead_that_is_switched_off_and_on_keeps_every_slot() {
    explore(|| {
        let bulkhead = impatient(1);
        let (calls, switch) = (bulkhead.clone(), bulkhead.clone());
        race(
            move || drop(calls.try_acquire()),
            move || {
                switch.set_enabled(false);
                switch.set_enabled(true);
            },
        );
        assert_idle(&bulkhead);
        let permit = bulkhead.try_acquire().unwrap();
        assert!(bulkhead.try_acquire().is_err());
        drop(permit);
        assert_idle(&bulkhead);
    });
}
