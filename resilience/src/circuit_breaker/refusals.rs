use crate::sync::atomic::{AtomicU64, Ordering};

const COUNT_BITS: u32 = 32;
const COUNT_MASK: u64 = (1 << COUNT_BITS) - 1;

/// Calls that a stay in OPEN has refused without the lock, until somebody with the lock collects them.
///
/// The stay's number goes with them: who is late and refuses for a stay that is over is told so, and
/// asks again.
#[derive(Debug)]
pub(super) struct Refusals(AtomicU64);

impl Refusals {
    pub(super) fn new() -> Self {
        Self(AtomicU64::new(0))
    }

    /// Counts one for the stay `generation`; false if that is not the present one any more.
    pub(super) fn count(&self, generation: u64) -> bool {
        let counted = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |word| {
            let fits = word & COUNT_MASK != COUNT_MASK;
            (word & !COUNT_MASK == tag(generation) && fits).then(|| word + 1)
        });
        counted.is_ok()
    }

    /// Takes what was counted. From now on it counts for the stay `generation`.
    pub(super) fn take(&self, generation: u64) -> u64 {
        self.0.swap(tag(generation), Ordering::Relaxed) & COUNT_MASK
    }
}

/// Numbers of stays come back after so many that nobody can be that late.
fn tag(generation: u64) -> u64 {
    generation << COUNT_BITS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_counted_is_taken_once() {
        let refusals = Refusals::new();
        assert_eq!(refusals.take(7), 0);
        assert!((0..3).all(|_| refusals.count(7)));
        assert_eq!([refusals.take(7), refusals.take(7)], [3, 0]);
    }

    #[test]
    fn nothing_is_counted_for_a_stay_that_is_over() {
        let refusals = Refusals::new();
        refusals.take(7);
        assert!(refusals.count(7));
        assert_eq!(refusals.take(8), 1);
        assert!(!refusals.count(7));
        assert_eq!(refusals.take(8), 0);
    }

    #[test]
    fn more_than_fit_are_not_counted_here() {
        let refusals = Refusals(AtomicU64::new(tag(1) | (COUNT_MASK - 1)));
        assert!(refusals.count(1));
        assert!(!refusals.count(1));
        assert_eq!(refusals.take(1), COUNT_MASK);
    }
}
