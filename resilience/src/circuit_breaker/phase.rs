use fastrand::Rng;

use super::{State, config::CircuitBreakerConfig};

/// How many timers a breaker catches up on one by one when nobody used it for a long time.
///
/// Without a runtime, a breaker whose open and half-open times are both bounded would otherwise
/// have to live through every cycle that it slept.
const MAX_CATCH_UP: u32 = 1_000;

/// One stay in a state: since when, until when, and which one it is.
///
/// It can be cloned and moved on to see what a later time will find, without touching the breaker.
#[derive(Debug, Clone)]
pub(super) struct Phase {
    state: State,
    generation: u64,
    entered_at: u64,
    /// OPEN: when its wait is over. `HALF_OPEN`: when its longest stay is over.
    ends_at: Option<u64>,
    /// How many times in a row the breaker has opened.
    attempts: u32,
    joined: Option<Joined>,
    rng: Rng,
}

/// What there is to know of a stay that this process has in common with others. It begins and ends where
/// they say so.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Joined {
    /// The number that the others know it by.
    pub(super) generation: u64,
    /// OPEN: until when this breaker would be open without the others.
    pub(super) own_until: u64,
    /// `HALF_OPEN`: how many probes were lent to this breaker and not given up, and when the last ones
    /// were.
    pub(super) lent: u64,
    pub(super) lent_at: u64,
}

impl Phase {
    pub(super) fn initial(config: &CircuitBreakerConfig, now: u64, rng: Rng) -> Self {
        let mut phase = Self {
            state: config.initial_state(),
            generation: 0,
            entered_at: now,
            ends_at: None,
            attempts: 0,
            joined: None,
            rng,
        };
        phase.enter(config.initial_state(), now, None, config);
        if phase.state == State::HalfOpen {
            phase.attempts = 1;
        }
        phase
    }

    pub(super) fn state(&self) -> State {
        self.state
    }

    /// The number of this stay; every entry into a state, also into the same one, has its own.
    pub(super) fn generation(&self) -> u64 {
        self.generation
    }

    pub(super) fn entered_at(&self) -> u64 {
        self.entered_at
    }

    pub(super) fn ends_at(&self) -> Option<u64> {
        self.ends_at
    }

    /// What is known of it if it is one that processes have in common.
    pub(super) fn joined(&self) -> Option<Joined> {
        self.joined
    }

    /// Makes the stay one that processes have in common, which ends at `ends_at` unless they say
    /// otherwise, after so many openings in a row.
    pub(super) fn join(&mut self, joined: Joined, ends_at: Option<u64>, openings: u32) {
        self.joined = Some(joined);
        self.ends_at = ends_at;
        self.attempts = openings;
    }

    /// Goes on with other knowledge of the same stay.
    pub(super) fn remember(&mut self, joined: Joined) {
        self.joined = Some(joined);
    }

    /// Makes the stay one of this process again, which ends at `ends_at`.
    pub(super) fn part(&mut self, ends_at: Option<u64>) {
        self.joined = None;
        self.ends_at = ends_at;
    }

    /// Begins a new stay. `open_for` replaces the configured wait and is no attempt of its own.
    pub(super) fn enter(
        &mut self,
        to: State,
        at: u64,
        open_for: Option<u64>,
        config: &CircuitBreakerConfig,
    ) {
        self.attempts = match to {
            State::Closed | State::Disabled | State::MetricsOnly => 0,
            State::Open if open_for.is_some() => self.attempts,
            State::Open | State::ForcedOpen => self.attempts.saturating_add(1),
            State::HalfOpen => self.attempts,
        };
        let stay = match to {
            State::Open => {
                open_for.or_else(|| Some(config.open_wait.nanos(self.attempts, &mut self.rng)))
            }
            State::HalfOpen => config.max_half_open_nanos(),
            _ => None,
        };
        self.state = to;
        self.generation += 1;
        self.joined = None;
        self.entered_at = at;
        self.ends_at = stay.map(|stay| at.saturating_add(stay));
    }

    /// When time alone ends this stay: at its end, but not in the instant in which it began.
    pub(super) fn timer(&self, config: &CircuitBreakerConfig) -> Option<u64> {
        let runs = match self.state {
            _ if self.joined.is_some() => false,
            State::Open => config.automatic_transition_from_open_to_half_open_enabled(),
            State::HalfOpen => true,
            _ => false,
        };
        let end = self.ends_at.filter(|_| runs)?;
        Some(end.max(self.entered_at.saturating_add(1)))
    }

    /// Where time alone leads by `now`, and when; `hop` counts the answers of one catching up.
    pub(super) fn due(
        &mut self,
        now: u64,
        hop: u32,
        config: &CircuitBreakerConfig,
    ) -> Option<(State, u64)> {
        self.timer(config).filter(|due| *due <= now)?;
        let end = self.ends_at?;
        if hop >= MAX_CATCH_UP {
            let stay = end.saturating_sub(self.entered_at);
            self.entered_at = now;
            self.ends_at = Some(now.saturating_add(stay.max(1)));
            return None;
        }
        let to = match self.state {
            State::Open => State::HalfOpen,
            _ => config.transition_to_state_after_wait_duration(),
        };
        Some((to, end))
    }
}
