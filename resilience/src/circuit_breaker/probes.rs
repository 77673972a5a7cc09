use std::collections::VecDeque;

/// The probes of one stay in `HALF_OPEN`: how many may still start, and who holds a slot.
///
/// A slot that was taken with [`lend`](Probes::lend) is leased: the holder names it when it comes
/// back, and somebody else may have it when the holder stays away for too long. [`take`](Probes::take) and
/// [`give_back`](Probes::give_back) only count.
#[derive(Debug, Clone, Default)]
pub(super) struct Probes {
    free: u64,
    /// When each lent slot was lent, in order; `None` once it came back.
    lent: VecDeque<Option<u64>>,
    /// The number of the slot at the front of `lent`.
    first: u64,
}

/// The number of a lent slot.
pub(super) type Slot = u64;

impl Probes {
    pub(super) fn new(permitted: u32) -> Self {
        Self { free: permitted.into(), lent: VecDeque::new(), first: 0 }
    }

    pub(super) fn take(&mut self) -> bool {
        let taken = self.free > 0;
        self.free -= u64::from(taken);
        taken
    }

    pub(super) fn give_back(&mut self) {
        self.free = self.free.saturating_add(1);
    }

    pub(super) fn lend(&mut self, now: u64) -> Option<Slot> {
        self.take().then(|| {
            self.lent.push_back(Some(now));
            self.first + self.lent.len() as u64 - 1
        })
    }

    /// Ends a lease; `false` when the holder has lost its slot before.
    pub(super) fn end_lease(&mut self, slot: Slot) -> bool {
        let held = slot
            .checked_sub(self.first)
            .and_then(|index| usize::try_from(index).ok())
            .and_then(|index| self.lent.get_mut(index)?.take())
            .is_some();
        self.forget_returned();
        held
    }

    /// Frees the slots that were lent `lease` ago or earlier.
    pub(super) fn expire(&mut self, lease: u64, now: u64) {
        while let Some(Some(since)) = self.lent.front()
            && since.saturating_add(lease) <= now
        {
            self.lent.pop_front();
            self.first += 1;
            self.give_back();
            self.forget_returned();
        }
    }

    /// Lets so many more probes run.
    pub(super) fn add(&mut self, probes: u32) {
        self.free = self.free.saturating_add(probes.into());
    }

    /// Gives up those that have not started, and says how many that were.
    pub(super) fn drop_free(&mut self) -> u64 {
        std::mem::take(&mut self.free)
    }

    /// Sets how many probes may run; those that hold a slot keep it.
    pub(super) fn resize(&mut self, permitted: u32) {
        let held = self.lent.iter().flatten().count() as u64;
        self.free = u64::from(permitted).saturating_sub(held);
    }

    fn forget_returned(&mut self) {
        while let Some(None) = self.lent.front() {
            self.lent.pop_front();
            self.first += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_is_lost_once_its_lease_is_over_and_not_before() {
        let mut probes = Probes::new(1);
        let slot = probes.lend(0).unwrap();
        probes.expire(10, 9);
        assert_eq!(probes.lend(9), None);
        probes.expire(10, 10);
        assert!(!probes.end_lease(slot));
        assert!(probes.lend(10).is_some());
    }

    #[test]
    fn slots_come_back_in_any_order_and_each_once() {
        let mut probes = Probes::new(3);
        let slots: Vec<_> = std::iter::from_fn(|| probes.lend(0)).collect();
        assert_eq!(slots.len(), 3);
        for &slot in slots.iter().rev() {
            assert!(probes.end_lease(slot));
            assert!(!probes.end_lease(slot));
        }
        assert!(probes.lent.is_empty());
    }

    #[test]
    fn a_slot_keeps_its_number_when_those_before_it_come_back() {
        let mut probes = Probes::new(2);
        let slots: Vec<_> = std::iter::from_fn(|| probes.lend(0)).collect();
        assert!(slots.into_iter().all(|slot| probes.end_lease(slot)));
    }

    #[test]
    fn a_returned_slot_in_the_middle_does_not_hide_a_lost_one() {
        let mut probes = Probes::new(3);
        let slots: Vec<_> = (0..3).filter_map(|now| probes.lend(now)).collect();
        probes.end_lease(slots[1]);
        probes.expire(1, 100);
        assert_eq!(probes.free, 2);
    }
}
