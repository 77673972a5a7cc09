//! What keeps a program from asking a sick store.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use crate::sync::plain::{Mutex, MutexGuard};

/// This many failures in a row open the guard.
const FAILURES: u32 = 5;
/// For how long at first; it doubles while the store stays sick.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(10);
/// By how much a pause is longer or shorter at random, so that processes do not all ask at once.
const SPREAD: f64 = 0.2;

/// Lets decisions through to the store, or one at a time to see whether it is well again.
///
/// Not a [`CircuitBreaker`](crate::CircuitBreaker): its pauses double and are spread at once, it goes by
/// real time where a test has paused tokio's clock, and it costs no window.
#[derive(Debug, Clone, Default)]
pub(super) struct Guard(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    /// Failures in a row.
    failures: u32,
    /// How often it has opened since the store was well.
    openings: u32,
    open_until: Option<Instant>,
    /// Whether somebody is asking to see whether the store is well again.
    probing: bool,
}

/// The right to ask the store once. Whoever drops it says nothing about the store.
#[derive(Debug)]
pub(super) struct Permit {
    guard: Guard,
    probes: bool,
}

impl Guard {
    /// The right to ask, or else for how long the store is left alone, if that is known.
    pub(super) fn enter(&self, now: Instant) -> Result<Permit, Option<Duration>> {
        let mut state = self.state();
        let Some(until) = state.open_until else {
            return Ok(Permit { guard: self.clone(), probes: false });
        };
        if now < until {
            return Err(Some(until.saturating_duration_since(now)));
        }
        if state.probing {
            return Err(None);
        }
        state.probing = true;
        Ok(Permit { guard: self.clone(), probes: true })
    }

    /// Has the next decision see whether the store is well again, if it is left alone.
    pub(super) fn end_pause(&self, now: Instant) {
        let mut state = self.state();
        state.open_until = state.open_until.map(|until| until.min(now));
    }

    /// Whether decisions go to the store as if nothing had happened.
    pub(super) fn is_closed(&self) -> bool {
        self.state().open_until.is_none()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock()
    }
}

impl Permit {
    pub(super) fn success(self) {
        let mut state = self.guard.state();
        // One that was sent before the guard opened tells of the past.
        if self.probes || state.open_until.is_none() {
            *state = State { probing: state.probing && !self.probes, ..State::default() };
        }
    }

    /// `random` is from -1 to 1.
    pub(super) fn failure(self, now: Instant, random: f64) {
        let mut state = self.guard.state();
        state.failures = state.failures.saturating_add(1);
        let opens = self.probes || state.open_until.is_none() && state.failures >= FAILURES;
        if opens {
            let pause = FIRST_PAUSE * 2_u32.saturating_pow(state.openings).min(1 << 10);
            let pause = pause.min(LONGEST_PAUSE).mul_f64(1.0 + SPREAD * random.clamp(-1.0, 1.0));
            state.openings = state.openings.saturating_add(1);
            state.open_until = now.checked_add(pause);
        }
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        if self.probes {
            self.guard.state().probing = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn fail(guard: &Guard, now: Instant) {
        guard.enter(now).expect("it lets through").failure(now, 0.0);
    }

    fn opened(now: Instant) -> Guard {
        let guard = Guard::default();
        (0..FAILURES).for_each(|_| fail(&guard, now));
        guard
    }

    #[test]
    fn five_failures_in_a_row_open_it_for_a_second() {
        let (guard, now) = (Guard::default(), Instant::now());
        for _ in 0..FAILURES - 1 {
            fail(&guard, now);
        }
        guard.enter(now).unwrap().success();
        for _ in 0..FAILURES - 1 {
            fail(&guard, now);
        }
        assert!(guard.is_closed(), "a success came between");
        fail(&guard, now);
        assert_eq!(guard.enter(now).unwrap_err(), Some(SECOND));
        assert_eq!(guard.enter(now + SECOND / 2).unwrap_err(), Some(SECOND / 2));
    }

    #[test]
    fn then_one_at_a_time_goes_through() {
        let now = Instant::now();
        let guard = opened(now);
        let probe = guard.enter(now + SECOND).unwrap();
        assert_eq!(guard.enter(now + SECOND).unwrap_err(), None);
        drop(probe);
        let probe = guard.enter(now + SECOND).expect("the one before said nothing");
        probe.success();
        assert!(guard.is_closed());
        assert!(guard.enter(now + SECOND).is_ok());
    }

    #[test]
    fn the_pause_doubles_up_to_ten_seconds_and_starts_anew_when_the_store_is_well() {
        let mut now = Instant::now();
        let guard = opened(now);
        for seconds in [1, 2, 4, 8, 10, 10] {
            assert_eq!(guard.enter(now).unwrap_err(), Some(SECOND * seconds));
            now += SECOND * seconds;
            fail(&guard, now);
        }
        now += SECOND * 10;
        guard.enter(now).unwrap().success();
        (0..FAILURES).for_each(|_| fail(&guard, now));
        assert_eq!(guard.enter(now).unwrap_err(), Some(SECOND));
    }

    #[test]
    fn a_pause_that_is_ended_lets_one_through_and_goes_on_doubling_if_that_fails() {
        let now = Instant::now();
        let guard = opened(now);
        guard.end_pause(now);
        let probe = guard.enter(now).expect("the pause is over");
        assert_eq!(guard.enter(now).unwrap_err(), None, "one at a time");
        probe.failure(now, 0.0);
        assert_eq!(guard.enter(now).unwrap_err(), Some(SECOND * 2));
        let well = Guard::default();
        well.end_pause(now);
        assert!(well.is_closed());
    }

    #[test]
    fn pauses_are_spread_by_a_fifth() {
        for (random, pause) in [(-1.0, 800), (1.0, 1_200), (7.0, 1_200)] {
            let (guard, now) = (Guard::default(), Instant::now());
            for _ in 0..FAILURES {
                guard.enter(now).unwrap().failure(now, random);
            }
            assert_eq!(guard.enter(now).unwrap_err(), Some(Duration::from_millis(pause)));
        }
    }

    #[test]
    fn answers_that_were_asked_for_before_it_opened_change_nothing() {
        let (guard, now) = (Guard::default(), Instant::now());
        let early = [(); 3].map(|()| guard.enter(now).unwrap());
        (0..FAILURES).for_each(|_| fail(&guard, now));
        for (number, permit) in early.into_iter().enumerate() {
            if number == 0 { permit.success() } else { permit.failure(now, 0.0) }
        }
        assert_eq!(guard.enter(now).unwrap_err(), Some(SECOND));
    }
}
