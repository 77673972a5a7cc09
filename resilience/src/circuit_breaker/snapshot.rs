use super::window::Sums;

/// What a window came to at some time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Snapshot {
    pub(super) rates: Rates,
    pub(super) sums: Sums,
    pub(super) not_permitted: u64,
}

/// Rates in percent; both are [`Rates::UNDEFINED`] or neither.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Rates {
    pub(super) failure: f32,
    pub(super) slow: f32,
}

impl Snapshot {
    pub(super) const EMPTY: Snapshot = Snapshot {
        rates: Rates::UNDEFINED,
        sums: Sums { calls: 0, failed: 0, slow: 0, slow_failed: 0 },
        not_permitted: 0,
    };
}

impl Rates {
    /// Below every threshold, and never NaN.
    pub(super) const UNDEFINED: Rates = Rates { failure: -1.0, slow: -1.0 };

    pub(super) fn of(sums: &Sums, minimum: u32) -> Self {
        if sums.calls == 0 || sums.calls < u64::from(minimum) {
            return Self::UNDEFINED;
        }
        Self { failure: percent(sums.failed, sums.calls), slow: percent(sums.slow, sums.calls) }
    }
}

/// In single precision and in this order of operations, as Resilience4j computes it: 5 of 6 reach
/// a threshold of 83.333336.
#[allow(clippy::cast_precision_loss)]
pub(super) fn percent(part: u64, whole: u64) -> f32 {
    part as f32 * 100.0 / whole as f32
}
