//! Permissions that trickle back one by one: the generic cell rate algorithm with a queue in front.

use std::collections::VecDeque;

use super::engine::{Decision, Reservation, saturating_i64, saturating_u64};

/// A permission takes at least this many ticks, which bounds what rounding can cost of the rate.
const MIN_TICKS_PER_PERMIT: u64 = 1 << 10;

/// Ticks count from a base that moves up when they get here, so that sums stay in 64 bits.
const HORIZON: u128 = 1 << 61;

/// The longest period. Seventy years are beyond what a process sees, and the sums stay in 64 bits.
const MAX_PERIOD: u64 = 1 << 61;

/// The state of a greedy limiter.
///
/// All of it is one number, the time at which the bucket would be full again: a request moves it on by
/// what its permissions take to come back, unless it would get further away than a whole bucket takes.
///
/// A nanosecond is too coarse for a million permissions a millisecond, so time is counted in ticks, a
/// power of two to the nanosecond, and a permission takes a whole number of them, rounded up.
///
/// The queue holds reservations whose turn has not come. Each turn is charged at its due time, so
/// nobody can overtake, and a cancelled one was never charged.
#[derive(Debug)]
pub(super) struct GreedyEngine {
    limit: u32,
    period: u64,
    start: u64,
    /// The latest time seen; a clock that went back stands still here.
    latest: u64,
    ticks_per_nano: u64,
    ticks_per_permit: u64,
    /// The time of tick zero.
    base: u64,
    /// The tick at which the bucket would be full again.
    full_at: u64,
    queue: VecDeque<Reservation>,
    /// What `full_at` will be once the queue has been served; `None` when it has to be worked out
    /// again. A storm of cancelled calls works it out once, not once each.
    planned: Option<u128>,
    next_id: u64,
}

impl GreedyEngine {
    /// `available` beyond the limit is cut off. What is owed below zero is forgiven: nobody waits
    /// longer than a permission takes because of what was promised under another limit.
    pub(super) fn new(limit: u32, period: u64, now: u64, available: i64) -> Self {
        let limit = limit.max(1);
        let period = period.clamp(1, MAX_PERIOD);
        let (ticks_per_nano, ticks_per_permit) = scale(limit, period);
        let used = i64::from(limit) - available.clamp(0, limit.into());
        Self {
            limit,
            period,
            start: now,
            latest: now,
            ticks_per_nano,
            ticks_per_permit,
            base: now,
            planned: None,
            full_at: used.unsigned_abs() * ticks_per_permit,
            queue: VecDeque::new(),
            next_id: 0,
        }
    }

    /// Takes permissions that the bucket has, if nobody waits for them.
    pub(super) fn take(&mut self, permits: u32, now: u64) -> bool {
        let tick = self.observe(now);
        // More than the limit are never there, and what they cost might not fit.
        let is_possible = permits <= self.limit && self.queue.is_empty();
        let has_them = permits == 0 || is_possible && self.charge(permits, tick);
        if has_them && permits > 0 {
            self.planned = None;
        }
        has_them
    }

    pub(super) fn acquire(&mut self, permits: u32, timeout: u64, now: u64) -> Decision {
        if self.take(permits, now) { Decision::Now } else { self.reserve(permits, timeout) }
    }

    /// Reserves permissions that could not be taken just now.
    pub(super) fn reserve(&mut self, permits: u32, timeout: u64) -> Decision {
        if permits > self.limit {
            return Decision::Refused { wait: None };
        }
        let tick = self.tick();
        let full_after_queue = self.full_after_queue();
        self.planned = Some(full_after_queue);
        let wait = self.wait(permits, tick.into());
        if wait > u128::from(timeout) {
            return Decision::Refused { wait: u64::try_from(wait).ok() };
        }
        let due = self.latest.saturating_add(saturating_u64(wait));
        let reservation = Reservation { due, permits, id: self.next_id };
        self.next_id += 1;
        self.queue.push_back(reservation);
        self.planned = Some(self.full_after(full_after_queue, reservation));
        Decision::Later(reservation)
    }

    pub(super) fn cancel(&mut self, reservation: Reservation, now: u64) {
        self.observe(now);
        if reservation.due <= self.latest {
            // Spent. It is still in the queue if one with a later turn stands before it.
            return;
        }
        if let Ok(index) = self.queue.binary_search_by_key(&reservation.id, |queued| queued.id) {
            self.queue.remove(index);
            self.planned = None;
        }
    }

    pub(super) fn drain(&mut self, now: u64) -> i64 {
        self.observe(now);
        let available = self.available(now);
        // Taken like any other request: what there is may lie in a gap before those that wait.
        if let Ok(permits) = u32::try_from(available) {
            let decision = self.acquire(permits, 0, now);
            debug_assert!(!matches!(decision, Decision::Refused { .. }), "it is available");
        }
        available
    }

    pub(super) fn available(&self, now: u64) -> i64 {
        let tick = self.tick_of(now.max(self.latest));
        let until_full = self.full_after_queue().saturating_sub(tick);
        let used = until_full.div_ceil(self.ticks_per_permit.into());
        let used = i128::try_from(used).unwrap_or(i128::MAX);
        saturating_i64(i128::from(self.limit) - used)
    }

    pub(super) fn cycle(&self, now: u64) -> u64 {
        (now.max(self.latest) - self.start) / self.period
    }

    pub(super) fn wait_for_one(&self, now: u64) -> u64 {
        saturating_u64(self.wait(1, self.tick_of(now.max(self.latest))))
    }

    /// Moves time on and charges the turns that have come. Returns the present tick.
    fn observe(&mut self, now: u64) -> u64 {
        self.latest = self.latest.max(now);
        while let Some(head) = self.queue.front().copied().filter(|head| head.due <= self.latest) {
            self.queue.pop_front();
            let tick = self.rebase(head.due);
            let charged = self.charge(head.permits, tick);
            debug_assert!(charged, "the turn was planned so that the bucket has them");
        }
        self.rebase(self.latest)
    }

    /// The present tick, once [`observe`](Self::observe) has moved time on.
    fn tick(&self) -> u64 {
        saturating_u64(self.tick_of(self.latest))
    }

    /// Takes permissions if the bucket has them at `tick`.
    fn charge(&mut self, permits: u32, tick: u64) -> bool {
        let whole = u64::from(self.limit) * self.ticks_per_permit;
        let full_at = self.full_at.max(tick) + u64::from(permits) * self.ticks_per_permit;
        let has_them = full_at - tick <= whole;
        if has_them {
            self.full_at = full_at;
        }
        has_them
    }

    /// The tick of `time`, after moving the base up to it if that is far away.
    fn rebase(&mut self, time: u64) -> u64 {
        let tick = self.tick_of(time);
        if tick <= HORIZON {
            return saturating_u64(tick);
        }
        self.full_at = saturating_u64(u128::from(self.full_at).saturating_sub(tick));
        self.planned = self.planned.map(|full_at| full_at.saturating_sub(tick));
        self.base = time;
        0
    }

    fn tick_of(&self, time: u64) -> u128 {
        u128::from(time.saturating_sub(self.base)) * u128::from(self.ticks_per_nano)
    }

    /// Nanoseconds until a newcomer's turn, behind all that are queued.
    fn wait(&self, permits: u32, tick: u128) -> u128 {
        let ticks_per_permit = u128::from(self.ticks_per_permit);
        let spare = u128::from(self.limit.saturating_sub(permits)) * ticks_per_permit;
        self.full_after_queue().saturating_sub(spare + tick).div_ceil(self.ticks_per_nano.into())
    }

    fn full_after(&self, full_at: u128, reservation: Reservation) -> u128 {
        let cost = u128::from(reservation.permits) * u128::from(self.ticks_per_permit);
        full_at.max(self.tick_of(reservation.due)) + cost
    }

    fn full_after_queue(&self) -> u128 {
        self.planned.unwrap_or_else(|| {
            let full_at = u128::from(self.full_at);
            self.queue.iter().fold(full_at, |full_at, queued| self.full_after(full_at, *queued))
        })
    }
}

/// Ticks to the nanosecond, and ticks that a permission takes.
fn scale(limit: u32, period: u64) -> (u64, u64) {
    let ticks_per_permit = |ticks_per_nano: u64| {
        let ticks = u128::from(period) * u128::from(ticks_per_nano);
        saturating_u64(ticks.div_ceil(limit.into()))
    };
    let mut ticks_per_nano = 1;
    while ticks_per_permit(ticks_per_nano) < MIN_TICKS_PER_PERMIT {
        ticks_per_nano *= 2;
    }
    (ticks_per_nano, ticks_per_permit(ticks_per_nano))
}

#[cfg(test)]
mod tests {
    use std::{num::NonZeroU32, time::Duration};

    use governor::{Quota, clock::FakeRelativeClock};
    use proptest::prelude::*;

    use super::*;

    const MS: u64 = 1_000_000;
    const SECOND: u64 = 1_000 * MS;

    fn engine(limit: u32, period: u64) -> GreedyEngine {
        GreedyEngine::new(limit, period, 0, limit.into())
    }

    fn due(decision: Decision) -> u64 {
        match decision {
            Decision::Later(reservation) => reservation.due,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_full_bucket_serves_one_burst_and_then_trickles() {
        let mut engine = engine(5, SECOND);
        assert!((0..5).all(|_| engine.acquire(1, 0, 0) == Decision::Now));
        assert_eq!(engine.acquire(1, 0, 0), Decision::Refused { wait: Some(200 * MS) });
        assert_eq!(engine.acquire(1, 0, 200 * MS), Decision::Now);
        assert_eq!(engine.available(SECOND), 4);
    }

    #[test]
    fn less_than_one_interval_brings_nothing_back() {
        let mut engine = engine(5, SECOND);
        engine.acquire(5, 0, 0);
        assert_ne!(engine.acquire(1, 0, 200 * MS - 1), Decision::Now);
        assert_eq!(engine.available(200 * MS - 1), 0);
    }

    #[test]
    fn waiters_are_served_in_order_and_newcomers_queue_behind_them() {
        let mut engine = engine(1, SECOND);
        engine.acquire(1, 0, 0);
        let dues: Vec<_> = (0..3).map(|_| due(engine.acquire(1, 5 * SECOND, 0))).collect();
        assert_eq!(dues, [SECOND, 2 * SECOND, 3 * SECOND]);
        assert_eq!(engine.available(0), -3);
        assert_eq!(due(engine.acquire(1, 5 * SECOND, SECOND)), 4 * SECOND);
    }

    #[test]
    fn a_wait_behind_the_queue_that_is_too_long_is_refused_at_once() {
        let mut engine = engine(1, SECOND);
        engine.acquire(1, 0, 0);
        due(engine.acquire(1, SECOND, 0));
        let refused = engine.acquire(1, SECOND, 0);
        assert_eq!(refused, Decision::Refused { wait: Some(2 * SECOND) });
    }

    #[test]
    fn cancelling_in_the_queue_admits_nobody_twice() {
        let mut engine = engine(1, SECOND);
        engine.acquire(1, 0, 0);
        let Decision::Later(first) = engine.acquire(1, 9 * SECOND, 0) else { panic!() };
        assert_eq!(due(engine.acquire(1, 9 * SECOND, 0)), 2 * SECOND);
        engine.cancel(first, 0);
        assert_eq!(due(engine.acquire(1, 9 * SECOND, 0)), 3 * SECOND);
    }

    #[test]
    fn a_cancelled_last_wait_is_given_back() {
        let mut engine = engine(2, SECOND);
        engine.acquire(2, 0, 0);
        let Decision::Later(last) = engine.acquire(1, 9 * SECOND, 0) else { panic!() };
        engine.cancel(last, 0);
        assert_eq!(engine.available(0), 0);
        assert_eq!(engine.available(500 * MS), 1);
    }

    #[test]
    fn draining_empties_the_bucket_also_where_a_cancelled_wait_left_a_gap() {
        let mut engine = engine(10, SECOND);
        engine.acquire(10, 0, 0);
        let Decision::Later(first) = engine.acquire(10, 9 * SECOND, 0) else { panic!() };
        assert_eq!(due(engine.acquire(1, 9 * SECOND, 0)), 1_100 * MS);
        engine.cancel(first, 0);
        assert_eq!(engine.drain(900 * MS), 7);
        assert_eq!(engine.available(900 * MS), 0);
    }

    #[test]
    fn a_turn_that_has_come_stays_spent_while_another_waits_before_it() {
        let mut engine = engine(10, SECOND);
        engine.acquire(10, 0, 0);
        let Decision::Later(first) = engine.acquire(10, 9 * SECOND, 0) else { panic!() };
        assert_eq!(due(engine.acquire(1, 9 * SECOND, 0)), 1_100 * MS);
        engine.cancel(first, 0);
        let Decision::Later(early) = engine.acquire(1, 9 * SECOND, 0) else { panic!() };
        assert!(early.due < 1_000 * MS, "it takes the place that became free");
        let before = engine.available(1_000 * MS);
        engine.cancel(early, 1_000 * MS);
        assert_eq!(engine.available(1_000 * MS), before);
    }

    #[test]
    fn a_request_larger_than_the_burst_can_never_succeed() {
        let refused = engine(5, SECOND).acquire(6, u64::MAX, 0);
        assert_eq!(refused, Decision::Refused { wait: None });
        for permits in [2, 1_844_674_408, u32::MAX] {
            let mut slow = engine(1, 10 * SECOND);
            assert!(!slow.take(permits, 0));
            assert_eq!(slow.acquire(permits, u64::MAX, 0), Decision::Refused { wait: None });
            assert_eq!(slow.available(0), 1);
        }
    }

    #[test]
    fn draining_empties_the_bucket() {
        let mut engine = engine(4, SECOND);
        engine.acquire(1, 0, 0);
        assert_eq!(engine.drain(0), 3);
        assert_eq!(engine.available(0), 0);
        assert_eq!(engine.acquire(1, 0, 250 * MS), Decision::Now);
    }

    #[test]
    fn periods_are_counted_from_the_start() {
        let engine = GreedyEngine::new(5, SECOND, 7 * SECOND, 5);
        assert_eq!([7_000, 7_999, 8_000, 10_500].map(|now| engine.cycle(now * MS)), [0, 0, 1, 3]);
    }

    #[test]
    fn looking_tells_how_long_a_newcomer_would_wait() {
        let mut engine = engine(5, SECOND);
        assert_eq!(engine.wait_for_one(0), 0);
        engine.acquire(5, 0, 0);
        assert_eq!(engine.wait_for_one(50 * MS), 150 * MS);
        due(engine.acquire(1, SECOND, 50 * MS));
        assert_eq!(engine.wait_for_one(50 * MS), 350 * MS);
    }

    #[test]
    fn a_clock_that_goes_back_stands_still() {
        let mut engine = engine(1, SECOND);
        engine.acquire(1, 0, 5 * SECOND);
        assert_eq!(engine.acquire(1, 0, 0), Decision::Refused { wait: Some(SECOND) });
        assert_eq!(engine.acquire(1, 0, 6 * SECOND), Decision::Now);
    }

    #[test]
    fn a_rate_that_no_nanosecond_divides_is_kept_within_a_thousandth() {
        let limit = 300_000_000;
        let mut engine = engine(limit, SECOND);
        engine.acquire(limit, 0, 0);
        let available = engine.available(SECOND / 2);
        assert!((149_850_000..=150_000_000).contains(&available), "{available}");
    }

    #[test]
    fn the_rate_holds_over_years_and_the_largest_numbers_do_not_overflow() {
        let mut engine = engine(u32::MAX, 1);
        for now in [0, 1_000_000_000, u64::MAX / 2, u64::MAX] {
            assert_eq!(engine.acquire(u32::MAX, 0, now), Decision::Now);
            assert_eq!(engine.available(now), 0);
        }
        let mut slow = GreedyEngine::new(1, i64::MAX as u64, 0, 1);
        assert_eq!(slow.acquire(1, 0, u64::MAX), Decision::Now);
        assert_ne!(slow.acquire(1, 0, u64::MAX), Decision::Now);
    }

    #[test]
    fn ticks_are_as_fine_as_a_permission_needs_and_a_power_of_two_to_the_nanosecond() {
        assert_eq!(scale(1, SECOND), (1, SECOND));
        assert_eq!(scale(2, 2 * 1_024), (1, 1_024));
        assert_eq!(scale(2, 2 * 1_024 - 2), (2, 2 * 1_024 - 2));
        assert_eq!(scale(1_000, 1_000), (1_024, 1_024));
    }

    #[test]
    fn an_engine_that_starts_with_less_grants_no_burst() {
        let mut engine = GreedyEngine::new(100, SECOND, 0, 2);
        assert_eq!(engine.acquire(2, 0, 0), Decision::Now);
        assert_eq!(engine.acquire(1, 0, 0), Decision::Refused { wait: Some(10 * MS) });
    }

    proptest! {
        /// The field's yardstick for this algorithm.
        #[test]
        fn it_grants_and_refuses_what_the_crate_governor_does(
            limit in 1..20_u32,
            // Whole ticks, which are nanoseconds here: both count alike.
            ticks_per_permit in MIN_TICKS_PER_PERMIT..50_000,
            requests in prop::collection::vec((0..200_000_u64, 1..25_u32), 0..200),
        ) {
            let mut engine = engine(limit, u64::from(limit) * ticks_per_permit);
            let clock = FakeRelativeClock::default();
            let quota = Quota::with_period(Duration::from_nanos(ticks_per_permit)).unwrap();
            let quota = quota.allow_burst(NonZeroU32::new(limit).unwrap());
            let governor = governor::RateLimiter::direct_with_clock(quota, clock.clone());
            let mut now = 0;
            for (pause, permits) in requests {
                now += pause;
                clock.advance(Duration::from_nanos(pause));
                let ours = engine.acquire(permits, 0, now) == Decision::Now;
                let theirs = governor.check_n(NonZeroU32::new(permits).unwrap()) == Ok(Ok(()));
                prop_assert_eq!(ours, theirs, "{} at {}", permits, now);
            }
        }
    }
}
