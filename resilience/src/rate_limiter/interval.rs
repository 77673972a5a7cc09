//! Resilience4j's cycles: all permissions come back with each period.

use std::collections::BTreeMap;

use super::engine::{Decision, Reservation, saturating_i64, saturating_u64};

/// The state of an interval limiter.
///
/// A call that waits takes permissions that do not exist yet, so `permissions` goes below zero and
/// later cycles pay. A wait that is cancelled leaves a gap in the line of those reservations. It
/// cannot simply be added to `permissions`: these count from the end of the line, so a newcomer would
/// be sent to a cycle that is already full. The gap is kept with its cycle and goes to the next
/// request that fits, or ends with the cycle.
#[derive(Debug)]
pub(super) struct IntervalEngine {
    limit: u32,
    period: u64,
    start: u64,
    /// The latest time seen; a clock that went back stands still here.
    latest: u64,
    cycle: u64,
    /// When the next cycle begins, so that a call within this one need not divide.
    cycle_end: u64,
    permissions: i64,
    /// Permissions in gaps, by the cycle in which they can be used.
    gaps: BTreeMap<u64, u32>,
}

/// Where a request would be served from.
struct Offer {
    wait: u128,
    gap: Option<u64>,
}

impl IntervalEngine {
    /// `available` beyond the limit is cut off, below zero it is owed by the cycles to come.
    pub(super) fn new(limit: u32, period: u64, now: u64, available: i64) -> Self {
        Self {
            limit,
            period: period.max(1),
            start: now,
            latest: now,
            cycle: 0,
            cycle_end: now.saturating_add(period.max(1)),
            permissions: available.min(limit.into()),
            gaps: BTreeMap::new(),
        }
    }

    /// Changes the limit. The permissions of the cycle that was last used stay as they are; as in
    /// Resilience4j, all later ones come under the new limit.
    pub(super) fn set_limit(&mut self, limit: u32) {
        self.limit = limit;
        self.close_gaps_at_the_end();
    }

    /// Takes permissions that the present cycle has.
    #[inline]
    pub(super) fn take(&mut self, permits: u32, now: u64) -> bool {
        self.refresh(now);
        let has_them = self.permissions >= i64::from(permits);
        if has_them {
            self.permissions -= i64::from(permits);
        }
        has_them
    }

    pub(super) fn acquire(&mut self, permits: u32, timeout: u64, now: u64) -> Decision {
        if self.take(permits, now) { Decision::Now } else { self.reserve(permits, timeout) }
    }

    /// Reserves permissions that could not be taken just now.
    pub(super) fn reserve(&mut self, permits: u32, timeout: u64) -> Decision {
        let offer = self.offer(permits, self.latest, self.cycle, self.permissions);
        if offer.wait > u128::from(timeout) {
            return Decision::Refused { wait: u64::try_from(offer.wait).ok() };
        }
        match offer.gap {
            Some(cycle) => self.take_from_gap(cycle, permits),
            None => self.permissions = self.permissions.saturating_sub(permits.into()),
        }
        if offer.wait == 0 {
            return Decision::Now;
        }
        let due = self.latest.saturating_add(saturating_u64(offer.wait));
        Decision::Later(Reservation { due, permits, id: 0 })
    }

    pub(super) fn cancel(&mut self, reservation: Reservation, now: u64) {
        self.refresh(now);
        if self.latest >= reservation.due {
            return;
        }
        let cycle = (reservation.due - self.start) / self.period;
        if cycle >= self.last_reserved_cycle() {
            self.give_back(reservation.permits);
            self.close_gaps_at_the_end();
        } else {
            // A cycle has no more than the limit to give, also when a larger request left.
            let gap = self.gaps.entry(cycle).or_default();
            *gap = gap.saturating_add(reservation.permits).min(self.limit);
        }
    }

    pub(super) fn drain(&mut self, now: u64) -> i64 {
        let before = self.available(now);
        self.refresh(now);
        self.permissions = self.permissions.min(0);
        self.gaps.remove(&self.cycle);
        before
    }

    pub(super) fn available(&self, now: u64) -> i64 {
        let (cycle, permissions) = self.at(now.max(self.latest));
        let gaps: i128 = self.gaps.range(cycle..).map(|(_, gap)| i128::from(*gap)).sum();
        // What a higher limit granted in this cycle stays.
        let most = permissions.max(self.limit.into());
        saturating_i64(i128::from(permissions) + gaps).min(most)
    }

    pub(super) fn cycle(&self, now: u64) -> u64 {
        self.at(now.max(self.latest)).0
    }

    pub(super) fn wait_for_one(&self, now: u64) -> u64 {
        let now = now.max(self.latest);
        let (cycle, permissions) = self.at(now);
        saturating_u64(self.offer(1, now, cycle, permissions).wait)
    }

    /// The cycle at `now` and the permissions at the end of the line.
    fn at(&self, now: u64) -> (u64, i64) {
        if now < self.cycle_end {
            return (self.cycle, self.permissions);
        }
        let cycle = (now - self.start) / self.period;
        let passed = cycle.saturating_sub(self.cycle);
        if passed == 0 {
            return (self.cycle, self.permissions);
        }
        let gained = i128::from(passed) * i128::from(self.limit);
        let permissions = saturating_i64(i128::from(self.permissions) + gained);
        (cycle, permissions.min(self.limit.into()))
    }

    /// Begins the cycle of `now`, if another one was used last.
    #[inline]
    pub(super) fn refresh(&mut self, now: u64) {
        self.latest = self.latest.max(now);
        if self.latest >= self.cycle_end {
            self.begin_cycle();
        }
    }

    #[cold]
    fn begin_cycle(&mut self) {
        let (cycle, permissions) = self.at(self.latest);
        if cycle != self.cycle {
            (self.cycle, self.permissions) = (cycle, permissions);
            let begun = self.start.saturating_add(cycle.saturating_mul(self.period));
            self.cycle_end = begun.saturating_add(self.period);
            if !self.gaps.is_empty() {
                self.gaps = self.gaps.split_off(&cycle);
            }
        }
    }

    fn offer(&self, permits: u32, now: u64, cycle: u64, permissions: i64) -> Offer {
        let wanted = i64::from(permits);
        if permissions >= wanted || permits == 0 {
            return Offer { wait: 0, gap: None };
        }
        let since_start = now - self.start;
        if !self.gaps.is_empty()
            && let Some((&gap, _)) = self.gaps.range(cycle..).find(|(_, size)| **size >= permits)
        {
            let opens = u128::from(gap) * u128::from(self.period);
            return Offer { wait: opens.saturating_sub(u128::from(since_start)), gap: Some(gap) };
        }
        let to_next_cycle = self.period - since_start % self.period;
        let further_cycles = cycles_for(
            i128::from(wanted) - i128::from(permissions) - i128::from(self.limit),
            self.limit,
        );
        let wait = u128::from(to_next_cycle) + further_cycles * u128::from(self.period);
        Offer { wait, gap: None }
    }

    fn take_from_gap(&mut self, cycle: u64, permits: u32) {
        if let Some(gap) = self.gaps.get_mut(&cycle) {
            *gap -= permits;
            if *gap == 0 {
                self.gaps.remove(&cycle);
            }
        }
    }

    fn give_back(&mut self, permits: u32) {
        self.permissions = self.permissions.saturating_add(permits.into()).min(self.limit.into());
    }

    /// A gap with nothing reserved behind it is no gap: it shortens the line.
    fn close_gaps_at_the_end(&mut self) {
        while let Some((&cycle, &gap)) = self.gaps.last_key_value()
            && cycle >= self.last_reserved_cycle()
        {
            self.gaps.remove(&cycle);
            self.give_back(gap);
        }
    }

    /// The cycle whose permissions the last reservation takes.
    fn last_reserved_cycle(&self) -> u64 {
        self.cycle
            .saturating_add(saturating_u64(cycles_for(-i128::from(self.permissions), self.limit)))
    }
}

/// How many cycles it takes for `permissions` to come back.
fn cycles_for(permissions: i128, limit: u32) -> u128 {
    if let Ok(missing) = u64::try_from(permissions) {
        // Far cheaper than in 128 bits.
        return missing.div_ceil(limit.max(1).into()).into();
    }
    u128::try_from(permissions).map_or(0, |missing| missing.div_ceil(u128::from(limit.max(1))))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PERIOD: u64 = 1_000;

    fn engine(limit: u32) -> IntervalEngine {
        IntervalEngine::new(limit, PERIOD, 0, limit.into())
    }

    fn wait(decision: Decision) -> u64 {
        match decision {
            Decision::Now => 0,
            Decision::Later(reservation) => reservation.due,
            Decision::Refused { .. } => panic!("refused"),
        }
    }

    fn reservation(decision: Decision) -> Reservation {
        match decision {
            Decision::Later(reservation) => reservation,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn waiting_calls_take_the_permissions_of_later_cycles_in_order() {
        let mut engine = engine(3);
        let dues: Vec<_> = (0..6).map(|_| wait(engine.acquire(1, 1_200, 0))).collect();
        assert_eq!(dues, [0, 0, 0, 1_000, 1_000, 1_000]);
        assert_eq!(engine.acquire(1, 1_200, 0), Decision::Refused { wait: Some(2_000) });
        assert_eq!(engine.available(1_000), 0);
        assert_eq!(engine.available(2_000), 3);
    }

    #[test]
    fn a_cancelled_wait_at_the_end_of_the_line_shortens_it() {
        let mut engine = engine(1);
        engine.acquire(1, 9_999, 0);
        let last = reservation(engine.acquire(1, 9_999, 0));
        assert_eq!(engine.available(0), -1);
        engine.cancel(last, 500);
        assert_eq!(engine.available(500), 0);
        assert_eq!(wait(engine.acquire(1, 9_999, 600)), 1_000);
    }

    #[test]
    fn a_place_given_back_in_the_middle_goes_to_the_next_that_comes() {
        let mut engine = engine(1);
        let [_, _, second, third] = [0; 4].map(|now| engine.acquire(1, 9_999, now));
        assert_eq!(wait(third), 3_000);
        engine.cancel(reservation(second), 100);
        assert_eq!(engine.available(100), -2);
        assert_eq!(engine.wait_for_one(100), 1_900);
        assert_eq!(wait(engine.acquire(1, 9_999, 100)), 2_000);
        assert_eq!(wait(engine.acquire(1, 9_999, 100)), 4_000);
    }

    #[test]
    fn a_gap_can_be_used_until_its_cycle_ends() {
        let mut engine = engine(1);
        let [_, first, second] = [0; 3].map(|now| engine.acquire(1, 9_999, now));
        engine.cancel(reservation(first), 100);
        assert_eq!(engine.acquire(1, 0, 1_500), Decision::Now);
        assert_eq!(engine.acquire(1, 0, 1_500), Decision::Refused { wait: Some(1_500) });
        assert_eq!(wait(second), 2_000);
    }

    #[test]
    fn a_gap_that_nobody_used_adds_nothing_to_the_next_cycle() {
        let mut engine = engine(1);
        let [_, first, _second] = [0; 3].map(|now| engine.acquire(1, 9_999, now));
        engine.cancel(reservation(first), 100);
        assert_eq!(engine.available(2_000), 0);
        assert_eq!(engine.available(3_000), 1);
    }

    #[test]
    fn what_is_left_of_a_gap_goes_to_the_next_that_comes() {
        let mut engine = engine(2);
        let [_, first, _] = [0; 3].map(|now| engine.acquire(2, 9_999, now));
        engine.cancel(reservation(first), 0);
        assert_eq!([1, 1, 1].map(|n| wait(engine.acquire(n, 9_999, 0))), [1_000, 1_000, 3_000]);
    }

    #[test]
    fn cycles_are_counted_from_the_start() {
        let mut engine = IntervalEngine::new(1, PERIOD, 7_500, 1);
        assert_eq!([7_500, 8_499, 8_500, 10_600].map(|now| engine.cycle(now)), [0, 0, 1, 3]);
        let [_, first, second] = [7_500; 3].map(|now| engine.acquire(1, 9_999, now));
        assert_eq!((wait(first), wait(second)), (8_500, 9_500));
        engine.cancel(reservation(first), 7_600);
        assert_eq!(wait(engine.acquire(1, 9_999, 7_600)), 8_500);
    }

    #[test]
    fn a_gap_whose_cycle_is_over_is_forgotten() {
        let mut engine = engine(1);
        let [_, first, _, _] = [0; 4].map(|now| engine.acquire(1, 9_999, now));
        engine.cancel(reservation(first), 100);
        engine.acquire(1, 0, 2_000);
        assert!(engine.gaps.is_empty());
    }

    #[test]
    fn gaps_before_a_cancelled_end_close_with_it() {
        let mut engine = engine(1);
        let [_, first, second, third] = [0; 4].map(|now| engine.acquire(1, 9_999, now));
        engine.cancel(reservation(first), 0);
        engine.cancel(reservation(second), 0);
        engine.cancel(reservation(third), 0);
        assert!(engine.gaps.is_empty());
        assert_eq!(engine.available(0), 0);
    }

    #[test]
    fn a_turn_that_has_come_is_spent() {
        let mut engine = engine(1);
        engine.acquire(1, 9_999, 0);
        let due = reservation(engine.acquire(1, 9_999, 0));
        engine.cancel(due, 1_000);
        assert_eq!(engine.available(1_000), 0);
    }

    #[test]
    fn draining_takes_the_permissions_of_the_present_cycle() {
        let mut engine = engine(5);
        engine.acquire(4, 0, 0);
        assert_eq!(engine.drain(1_000), 5);
        assert_eq!(engine.available(1_000), 0);
    }

    #[test]
    fn draining_forgives_no_reservation() {
        let mut engine = engine(1);
        engine.acquire(1, 9_999, 0);
        engine.acquire(1, 9_999, 0);
        assert_eq!(engine.drain(0), -1);
        assert_eq!(engine.available(0), -1);
    }

    #[test]
    fn a_new_limit_acts_with_the_next_cycle() {
        let mut engine = engine(10);
        engine.acquire(4, 0, 0);
        engine.set_limit(2);
        assert_eq!(engine.available(0), 6);
        assert_eq!(engine.acquire(6, 0, 0), Decision::Now);
        assert_eq!(engine.available(1_000), 2);
    }

    #[test]
    fn a_clock_that_goes_back_stands_still() {
        let mut engine = engine(1);
        engine.acquire(1, 0, 5_000);
        assert_eq!(engine.acquire(1, 0, 10), Decision::Refused { wait: Some(1_000) });
        assert_eq!(engine.available(10), 0);
    }

    #[test]
    fn the_largest_numbers_do_not_overflow() {
        let mut engine = IntervalEngine::new(u32::MAX, 1, 0, u32::MAX.into());
        let timeout = i64::MAX as u64;
        assert_eq!(engine.acquire(u32::MAX, 0, 0), Decision::Now);
        assert_eq!(wait(engine.acquire(u32::MAX, timeout, 0)), 1);
        assert_eq!(engine.available(1_000_000_000), i64::from(u32::MAX));
        assert_eq!(engine.acquire(u32::MAX, 0, u64::MAX), Decision::Now);
        assert_eq!(wait(engine.acquire(u32::MAX, timeout, u64::MAX)), u64::MAX);

        let mut slow = IntervalEngine::new(1, i64::MAX as u64, 0, 1);
        assert_eq!(slow.acquire(1, 0, 0), Decision::Now);
        assert_eq!(slow.acquire(u32::MAX, timeout, 0), Decision::Refused { wait: None });
    }
}
