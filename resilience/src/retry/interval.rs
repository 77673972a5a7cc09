use std::{fmt, sync::Arc, time::Duration};

use crate::config::Problem;

/// How long to wait before the next attempt, as a function of the attempt that just failed.
///
/// Every value saturates instead of overflowing and lies within the cap after jitter; in the cap
/// the jitter still spreads the values, downward.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use resilience::retry::Interval;
///
/// let interval = Interval::exponential(Duration::from_millis(100), 2.0)
///     .max(Duration::from_secs(1));
/// let waits: Vec<_> = (1..=5).map(|attempt| interval.wait(attempt, 0.5).unwrap()).collect();
/// assert_eq!(waits.iter().map(Duration::as_millis).collect::<Vec<_>>(), [100, 200, 400, 800, 1000]);
/// ```
#[derive(Clone, PartialEq)]
pub struct Interval {
    base: Base,
    jitter: f64,
    max: Option<Duration>,
}

#[derive(Clone)]
struct CustomInterval(Arc<dyn Fn(u32) -> Option<Duration> + Send + Sync>);

/// A function equals itself and its clones only.
impl PartialEq for CustomInterval {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

#[derive(Clone, PartialEq)]
enum Base {
    Fixed(Duration),
    Exponential { initial: Duration, multiplier: f64 },
    Custom(CustomInterval),
}

/// What waits are counted in: milliseconds as in Resilience4j, unless one of the values is finer.
#[derive(Clone, Copy)]
enum Unit {
    Millisecond,
    Nanosecond,
}

impl Unit {
    fn of(values: impl IntoIterator<Item = Duration>) -> Self {
        let whole = |value: Duration| value.subsec_nanos().is_multiple_of(1_000_000);
        if values.into_iter().all(whole) { Unit::Millisecond } else { Unit::Nanosecond }
    }

    /// Saturates at `i64::MAX`, as Resilience4j does.
    fn count(self, duration: Duration) -> u64 {
        let count = match self {
            Unit::Millisecond => duration.as_millis(),
            Unit::Nanosecond => duration.as_nanos(),
        };
        u64::try_from(count).unwrap_or(LARGEST).min(LARGEST)
    }

    fn duration(self, count: u64) -> Duration {
        match self {
            Unit::Millisecond => Duration::from_millis(count),
            Unit::Nanosecond => Duration::from_nanos(count),
        }
    }
}

const LARGEST: u64 = i64::MAX as u64;

impl Interval {
    /// Waits equally long before every attempt.
    pub fn fixed(wait: Duration) -> Self {
        Self { base: Base::Fixed(wait), jitter: 0.0, max: None }
    }

    /// Waits `initial` at first, and `multiplier` times as long before every further attempt.
    ///
    /// As in Resilience4j it is cut to whole milliseconds at each step, unless `initial` is not
    /// whole milliseconds itself. A multiplier below 1 lets the wait decay.
    pub fn exponential(initial: Duration, multiplier: f64) -> Self {
        Self { base: Base::Exponential { initial, multiplier }, jitter: 0.0, max: None }
    }

    /// Waits as the caller chooses; the attempt is counted from 1. `None` ends the retry.
    pub fn custom(wait: impl Fn(u32) -> Option<Duration> + Send + Sync + 'static) -> Self {
        Self { base: Base::Custom(CustomInterval(Arc::new(wait))), jitter: 0.0, max: None }
    }

    /// Spreads each wait by this fraction of it up and down, 0 to 1; a configuration refuses any
    /// other number.
    #[must_use]
    pub fn jitter(mut self, factor: f64) -> Self {
        self.jitter = factor;
        self
    }

    /// Bounds every wait.
    #[must_use]
    pub fn max(mut self, max: Duration) -> Self {
        self.max = Some(max);
        self
    }

    /// What Resilience4j refuses in an interval function.
    pub(super) fn problems(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        let mut refuse = |key: &str, value: String, allowed: &str| {
            problems.push(Problem::new(format!("expected {allowed}")).path(key).value(value));
        };
        if let Base::Fixed(initial) | Base::Exponential { initial, .. } = &self.base
            && initial.is_zero()
        {
            refuse("interval", "0".into(), "a wait above 0; `wait_duration` may be 0");
        }
        if !(0.0..=1.0).contains(&self.jitter) {
            refuse("jitter", self.jitter.to_string(), "a number from 0 to 1");
        }
        if self.max.is_some_and(|max| max.is_zero()) {
            refuse("max", "0".into(), "a duration above 0");
        }
        problems
    }

    /// Returns the wait after the failed attempt `attempt`, counted from 1; `None` ends the retry.
    ///
    /// `random` is a number from 0 up to but not including 1; without jitter it plays no part.
    pub fn wait(&self, attempt: u32, random: f64) -> Option<Duration> {
        let (base, multiplier) = match &self.base {
            Base::Fixed(wait) => (*wait, 1.0),
            Base::Exponential { initial, multiplier } => (*initial, *multiplier),
            Base::Custom(wait) => ((wait.0)(attempt)?, 1.0),
        };
        let unit = Unit::of([base].into_iter().chain(self.max));
        let max = self.max.map_or(LARGEST, |max| unit.count(max));
        let grown = grown(unit.count(base), multiplier, attempt, max);
        Some(unit.duration(self.spread(grown.min(max), max, random)))
    }

    /// Resilience4j's formula, base − d + U·(2d + 1) cut to a whole number and at least one, with
    /// the upper bound drawn in to the cap so that values keep varying there.
    #[allow(clippy::cast_precision_loss, clippy::cast_sign_loss, clippy::cast_possible_truncation)]
    fn spread(&self, base: u64, max: u64, random: f64) -> u64 {
        let jitter = self.jitter.clamp(0.0, 1.0);
        if base == 0 || jitter.is_nan() || jitter == 0.0 {
            return base;
        }
        let delta = base as f64 * jitter;
        let low = base as f64 - delta;
        let width = (2.0 * delta).min(max as f64 - low) + 1.0;
        ((low + random.clamp(0.0, 1.0) * width) as u64).clamp(1, max)
    }
}

/// `initial` multiplied for every attempt after the first, cut to a whole number at each step.
///
/// Ends early once nothing changes any more, so that attempt 4 billion costs no more than the
/// growth up to the cap.
fn grown(initial: u64, multiplier: f64, attempt: u32, enough: u64) -> u64 {
    let mut wait = initial;
    for _ in 1..attempt {
        let next = scaled(wait, multiplier).min(LARGEST);
        if next == wait || wait >= enough {
            break;
        }
        wait = next;
    }
    wait
}

/// `value * factor`, cut to a whole number, saturating at both ends.
#[allow(clippy::cast_precision_loss, clippy::cast_sign_loss, clippy::cast_possible_truncation)]
fn scaled(value: u64, factor: f64) -> u64 {
    (value as f64 * factor) as u64
}

impl fmt::Debug for Interval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = match &self.base {
            Base::Fixed(wait) => {
                let mut out = f.debug_struct("Fixed");
                out.field("wait", wait);
                out
            }
            Base::Exponential { initial, multiplier } => {
                let mut out = f.debug_struct("Exponential");
                out.field("initial", initial).field("multiplier", multiplier);
                out
            }
            Base::Custom(_) => f.debug_struct("Custom"),
        };
        out.field("jitter", &self.jitter).field("max", &self.max).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn millis(interval: &Interval, attempts: impl IntoIterator<Item = u32>) -> Vec<u128> {
        attempts.into_iter().map(|a| interval.wait(a, 0.999).unwrap().as_millis()).collect()
    }

    #[test]
    fn exponential_waits_are_cut_to_whole_milliseconds_at_each_step() {
        let interval = Interval::exponential(Duration::from_millis(500), 1.5);
        assert_eq!(millis(&interval, 1..=6), [500, 750, 1125, 1687, 2530, 3795]);
        let interval = Interval::exponential(Duration::from_millis(333), 1.1);
        assert_eq!(millis(&interval, 1..=5), [333, 366, 402, 442, 486]);
    }

    #[test]
    fn no_attempt_overflows_and_all_stay_within_the_cap() {
        let cap = Duration::from_mins(5);
        let interval = Interval::exponential(Duration::from_secs(2), 2.0).max(cap).jitter(0.5);
        for attempt in (1..5_000).chain([u32::MAX]) {
            for random in [0.0, 0.3, 0.999_999] {
                assert!(interval.wait(attempt, random).unwrap() <= cap);
            }
        }
        let uncapped = Interval::exponential(Duration::from_secs(2), 10.0);
        assert_eq!(uncapped.wait(u32::MAX, 0.0), Some(Duration::from_millis(LARGEST)));
    }

    #[test]
    fn in_the_cap_the_waits_still_vary() {
        let interval = Interval::exponential(Duration::from_secs(1), 2.0)
            .max(Duration::from_secs(10))
            .jitter(0.5);
        let waits = [0.0, 0.25, 0.5, 0.75].map(|random| interval.wait(50, random).unwrap());
        assert!(waits.windows(2).all(|pair| pair[0] < pair[1]), "{waits:?}");
        assert_eq!(waits[0], Duration::from_secs(5));
    }

    #[test]
    fn a_wait_of_zero_stays_zero_and_a_multiplier_below_one_decays() {
        assert_eq!(Interval::fixed(Duration::ZERO).jitter(0.5).wait(3, 0.9), Some(Duration::ZERO));
        let decaying = Interval::exponential(Duration::from_millis(8), 0.5);
        assert_eq!(millis(&decaying, [1, 2, 3, 4, 5, 6]), [8, 4, 2, 1, 0, 0]);
    }

    #[test]
    fn jitter_reaches_both_ends_of_its_range() {
        let interval = Interval::fixed(Duration::from_millis(100)).jitter(0.5);
        let waits = [0.0, 0.999].map(|random| interval.wait(1, random).unwrap().as_millis());
        assert_eq!(waits, [50, 150]);
    }

    #[test]
    fn a_wait_without_jitter_is_exact_however_long() {
        // More than a float can tell apart.
        let long = Duration::from_nanos((1 << 53) + 1);
        for jitter in [0.0, f64::NAN] {
            assert_eq!(Interval::fixed(long).jitter(jitter).wait(1, 0.5), Some(long));
        }
    }

    #[test]
    fn a_wait_that_stands_still_costs_nothing_at_the_last_of_all_attempts() {
        let second = Duration::from_secs(1);
        assert_eq!(Interval::fixed(second).wait(u32::MAX, 0.0), Some(second));
    }

    #[test]
    fn a_custom_interval_equals_its_clones_only() {
        let custom = || Interval::custom(|_| None);
        let one = custom();
        assert_eq!(one, one.clone());
        assert_ne!(one, custom());
    }

    #[test]
    fn a_custom_interval_can_end_the_retry() {
        let interval = Interval::custom(|attempt| (attempt < 2).then_some(Duration::from_secs(1)));
        assert_eq!(interval.wait(1, 0.0), Some(Duration::from_secs(1)));
        assert_eq!(interval.wait(2, 0.0), None);
    }

    #[test]
    fn waits_below_a_millisecond_are_kept() {
        let interval = Interval::exponential(Duration::from_micros(250), 2.0);
        assert_eq!(interval.wait(2, 0.0), Some(Duration::from_micros(500)));
    }
}
