use fastrand::Rng;

const NANOS_PER_MILLI: u64 = 1_000_000;

/// How long a breaker stays open, by how many times in a row it has opened. In milliseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum OpenWait {
    Fixed { wait: u64 },
    Exponential { initial: u64, multiplier: f64, max: u64 },
    Randomized { wait: u64, factor: f64 },
}

impl OpenWait {
    /// The wait of the given opening, counted from 1, in nanoseconds.
    pub(super) fn nanos(&self, attempt: u32, rng: &mut Rng) -> u64 {
        self.nanos_at(attempt, || rng.f64())
    }

    /// What no opening's wait exceeds, in milliseconds.
    pub(super) fn longest(&self) -> u64 {
        match *self {
            OpenWait::Fixed { wait } => wait,
            OpenWait::Exponential { initial, multiplier, max } if multiplier < 1.0 => {
                initial.min(max)
            }
            OpenWait::Exponential { max, .. } => max,
            OpenWait::Randomized { wait, factor } => spread(wait, factor, 1.0),
        }
    }

    /// The wait of an opening in nanoseconds, at the place in the range of random waits that `random`, from 0 to below 1, names.
    pub(super) fn nanos_at(&self, attempt: u32, random: impl FnOnce() -> f64) -> u64 {
        let millis = match *self {
            OpenWait::Fixed { wait } => wait,
            OpenWait::Exponential { initial, multiplier, max } => {
                grow(initial, multiplier, max, attempt)
            }
            OpenWait::Randomized { wait, factor } => spread(wait, factor, random()),
        };
        millis.saturating_mul(NANOS_PER_MILLI)
    }
}

/// Cut to whole milliseconds at each step, as Resilience4j does.
fn grow(initial: u64, multiplier: f64, max: u64, attempt: u32) -> u64 {
    let mut wait = initial;
    for _ in 1..attempt {
        let next = scaled(wait, multiplier);
        // A wait that has reached the cap, or stands still, does so for ever.
        if next == wait || (multiplier >= 1.0 && next >= max) {
            wait = next;
            break;
        }
        wait = next;
    }
    wait.min(max)
}

/// Up and down by the fraction `factor`, at the place that `random`, from 0 to below 1, names.
fn spread(wait: u64, factor: f64, random: f64) -> u64 {
    let delta = scaled_float(wait, factor);
    scaled_millis(scaled_float(wait, 1.0) - delta + random * (2.0 * delta + 1.0)).max(1)
}

fn scaled(millis: u64, by: f64) -> u64 {
    scaled_millis(scaled_float(millis, by))
}

#[allow(clippy::cast_precision_loss)] // Resilience4j's arithmetic, which is in f64
fn scaled_float(millis: u64, by: f64) -> f64 {
    millis as f64 * by
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // the cast saturates
fn scaled_millis(millis: f64) -> u64 {
    millis as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exponential(initial: u64, multiplier: f64, max: u64) -> impl FnMut(u32) -> u64 {
        let wait = OpenWait::Exponential { initial, multiplier, max };
        let mut rng = Rng::with_seed(0);
        move |attempt| wait.nanos(attempt, &mut rng) / NANOS_PER_MILLI
    }

    #[test]
    fn an_exponential_wait_is_cut_to_milliseconds_at_each_step_and_capped() {
        let mut wait = exponential(333, 1.5, 1_000);
        assert_eq!([1, 2, 3, 4, 5].map(&mut wait), [333, 499, 748, 1_000, 1_000]);
    }

    #[test]
    fn an_exponential_wait_without_cap_saturates() {
        let mut wait = exponential(1_000, 2.0, u64::MAX);
        assert_eq!(wait(10), 512_000);
        assert_eq!(wait(u32::MAX), u64::MAX / NANOS_PER_MILLI);
    }

    #[test]
    fn a_multiplier_below_one_decays_to_nothing() {
        let mut wait = exponential(8, 0.5, u64::MAX);
        assert_eq!([1, 2, 3, 4, 5, 6].map(&mut wait), [8, 4, 2, 1, 0, 0]);
    }

    #[test]
    fn a_wait_that_stands_still_costs_nothing_however_often_it_grew() {
        assert_eq!(exponential(1_000, 1.0, u64::MAX)(u32::MAX), 1_000);
    }

    #[test]
    fn a_wait_that_decays_comes_below_its_cap_in_time() {
        let mut wait = exponential(100, 0.5, 20);
        assert_eq!([1, 2, 3, 4, 5].map(&mut wait), [20, 20, 20, 12, 6]);
    }

    #[test]
    fn random_waits_reach_both_ends_of_their_range() {
        assert_eq!([0.0, 0.999].map(|random| spread(100, 0.5, random)), [50, 150]);
    }

    #[test]
    fn no_wait_exceeds_the_longest() {
        let mut rng = Rng::with_seed(0);
        for (wait, longest) in [
            (OpenWait::Fixed { wait: 7 }, 7),
            (OpenWait::Randomized { wait: 100, factor: 0.5 }, 151),
            (OpenWait::Exponential { initial: 8, multiplier: 2.0, max: 100 }, 100),
            (OpenWait::Exponential { initial: 8, multiplier: 0.5, max: u64::MAX }, 8),
        ] {
            assert_eq!(wait.longest(), longest);
            for attempt in 1..100 {
                assert!(wait.nanos(attempt, &mut rng) <= longest * NANOS_PER_MILLI);
            }
        }
    }

    #[test]
    fn b14_random_waits_of_many_breakers_are_spread_evenly() {
        let wait = OpenWait::Randomized { wait: 60_000, factor: 0.15 };
        let mut rng = Rng::with_seed(42);
        let mut waits: Vec<_> =
            (0..1000).map(|_| wait.nanos(1, &mut rng) / NANOS_PER_MILLI).collect();
        waits.sort_unstable();
        assert!(waits[0] >= 51_000 && waits[999] <= 69_000, "{} {}", waits[0], waits[999]);
        assert!(waits.windows(51).all(|some| some[50] - some[0] > 200));
    }

    #[test]
    fn b14_a_factor_of_zero_is_exact() {
        let wait = OpenWait::Randomized { wait: 60_000, factor: 0.0 };
        let mut rng = Rng::with_seed(1);
        assert!((0..100).all(|_| wait.nanos(1, &mut rng) == 60_000 * NANOS_PER_MILLI));
    }
}
