//! The decision: a pure state machine that is told the time.

mod common;

pub(super) use common::ProbesSoFar;

use std::sync::Arc;

use fastrand::Rng;

use super::{
    Outcome, State,
    config::{CircuitBreakerConfig, FailureCounting, HalfOpenEvaluation},
    phase::Phase,
    probes::{Probes, Slot},
    shared::Counts,
    snapshot::{Rates, Snapshot, percent},
    streaks::Streaks,
    window::{Call, Shape, Window},
};
use crate::clock::saturating_nanos;

/// The decisions of a circuit breaker, as a state machine that knows no clock, lock or listener.
///
/// Time comes in as nanoseconds. It may stand still; where it goes back, the latest time seen
/// counts. What happened goes out as [`Effect`]s, in order. Whoever is about to change something
/// calls [`run_due`](Engine::run_due) first, which sets the time of the change and runs the timers
/// that are due: a late change finds what an early one would have left.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is told from the others by its name")]
pub(super) struct Engine {
    config: Arc<CircuitBreakerConfig>,
    now: u64,
    phase: Phase,
    tally: Tally,
    probes: Probes,
    streaks: Streaks,
    told: Exceeded,
    transitions: u64,
    /// Calls that ended in a later stay than the one that let them in.
    late: Counts,
    /// Whether the state was chosen by hand, until a reset.
    by_hand: bool,
    /// When time alone will change the state, or does after too long a silence of the others; the end of
    /// time where it will not.
    timer: u64,
    /// Whether a call has shown that the window exceeds no threshold of the present settings.
    settled: bool,
    /// See [`is_calm`](Engine::is_calm).
    calm: bool,
    /// Whether state, stay, settings or calm are others than when it was last asked.
    changed: bool,
}

/// What the calls came to; OPEN goes on with that of the state it follows.
#[derive(Debug)]
struct Tally {
    /// `FORCED_OPEN` and DISABLED have none.
    window: Option<Window>,
    scope: Scope,
    not_permitted: u64,
}

/// What a window is about, which decides its size and minimum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scope {
    Calls,
    Probes,
}

/// Which thresholds are exceeded, or were told to be.
#[derive(Debug, Clone, Copy, Default)]
struct Exceeded {
    failure: bool,
    slow: bool,
}

/// Something that listeners hear of.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Effect {
    /// `shared` where other processes have brought it about too.
    Transition {
        from: State,
        to: State,
        at: u64,
        before: Snapshot,
        shared: bool,
    },
    FailureRateExceeded(f32),
    SlowCallRateExceeded(f32),
    Reset,
}

/// Effects in the order in which they came about; it allocates only when there are any.
pub(super) type Effects = Vec<Effect>;

/// Why a call was not let in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Refusal {
    pub(super) state: State,
    /// Nanoseconds until an OPEN breaker asks for a probe.
    pub(super) wait: Option<u64>,
}

/// How a call that was let in ended.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ending<'a> {
    pub(super) outcome: Outcome,
    /// Nanoseconds.
    pub(super) elapsed: u64,
    pub(super) kinds: &'a [&'a str],
    /// Nanoseconds for which the callee asked to be left alone; 0 is not at all.
    pub(super) open_for: u64,
}

/// What an observer finds at some time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct View {
    pub(super) state: State,
    pub(super) entered_at: u64,
    /// When the state's own time is over, if it has one.
    #[cfg(feature = "actuator")]
    pub(super) ends_at: Option<u64>,
    pub(super) snapshot: Snapshot,
    pub(super) transitions: u64,
}

/// What time alone has brought about.
struct Due {
    phase: Phase,
    /// How many changes of state that took.
    hops: u32,
    /// Whether what the calls came to is still in the window.
    keeps_window: bool,
}

impl Engine {
    pub(super) fn new(config: Arc<CircuitBreakerConfig>, now: u64, rng: Rng) -> Self {
        let phase = Phase::initial(&config, now, rng);
        let mut engine = Self {
            now,
            tally: Tally { window: None, scope: Scope::Calls, not_permitted: 0 },
            probes: Probes::default(),
            streaks: Streaks::new(&config.failure_streaks),
            told: Exceeded::default(),
            transitions: 0,
            late: Counts::default(),
            by_hand: false,
            timer: u64::MAX,
            settled: false,
            calm: false,
            changed: true,
            config,
            phase,
        };
        engine.furnish();
        engine.set_timer();
        engine
    }

    pub(super) fn config(&self) -> &Arc<CircuitBreakerConfig> {
        &self.config
    }

    /// The state that the last change left.
    pub(super) fn state(&self) -> State {
        self.phase.state()
    }

    /// The number of the present stay in a state.
    pub(super) fn generation(&self) -> u64 {
        self.phase.generation()
    }

    /// Whether one more success that is not slow would change nothing: the state has no end of its own,
    /// and the window holds as many of these as fit and nothing else.
    pub(super) fn is_calm(&self) -> bool {
        self.calm
    }

    /// Until when OPEN refuses every call.
    pub(super) fn open_until(&self) -> u64 {
        self.phase.ends_at().filter(|_| self.state() == State::Open).unwrap_or(0)
    }

    /// When time alone will change the state.
    pub(super) fn next_timer(&self) -> Option<u64> {
        self.phase.timer(&self.config)
    }

    /// What [`take_changed`](Engine::take_changed) would say.
    pub(super) fn has_changed(&self) -> bool {
        self.changed
    }

    /// Whether state, stay, settings or calm have changed since this was last asked.
    pub(super) fn take_changed(&mut self) -> bool {
        std::mem::take(&mut self.changed)
    }

    /// Applies what time alone has brought about by `now`, at the times at which it did.
    pub(super) fn run_due(&mut self, now: u64, effects: &mut Effects) {
        self.now = self.now.max(now);
        if self.now >= self.timer {
            // Not even of an exchange that failed was anything heard.
            self.go_alone(effects);
            let mut hop = 0;
            while let Some((to, at)) = self.phase.due(self.now, hop, &self.config) {
                self.enter_state(to, at, None, effects);
                hop += 1;
            }
            // Catching up on very many cycles ends the stay anew.
            self.set_timer();
        }
        if self.phase.state() == State::HalfOpen {
            self.probes.expire(saturating_nanos(self.config.probe_lease()), self.now);
        }
    }

    /// Whether a fresh breaker would serve as well as this one: it waits for nothing, and nobody has
    /// put it into its state by hand.
    pub(super) fn is_at_rest(&self, now: u64) -> bool {
        let now = self.now.max(now);
        let Due { phase, .. } = self.due(now);
        match phase.state() {
            State::Closed => true,
            _ if phase.joined().is_some() => false,
            State::Open | State::HalfOpen => phase.ends_at().is_none_or(|end| end <= now),
            state => state == self.config.initial_state(),
        }
    }

    /// What an observer finds at `now`, without changing anything.
    pub(super) fn view(&self, now: u64) -> View {
        let now = self.now.max(now);
        let Due { phase, hops, keeps_window } = self.due(now);
        View {
            state: phase.state(),
            entered_at: phase.entered_at(),
            #[cfg(feature = "actuator")]
            ends_at: phase.ends_at(),
            snapshot: if keeps_window { self.snapshot(now) } else { Snapshot::EMPTY },
            transitions: self.transitions + u64::from(hops),
        }
    }

    /// Where time alone has led by `now`.
    fn due(&self, now: u64) -> Due {
        let mut due = Due { phase: self.phase.clone(), hops: 0, keeps_window: true };
        while let Some((to, at)) = due.phase.due(now, due.hops, &self.config) {
            due.phase.enter(to, at, None, &self.config);
            due.keeps_window &= to == State::Open;
            due.hops += 1;
        }
        due
    }
}

/// Calls that hold an admission.
impl Engine {
    /// Lets a call in; a half-open breaker lends it a slot, which it must bring back.
    pub(super) fn enter(&mut self, effects: &mut Effects) -> Result<Option<Slot>, Refusal> {
        if !self.pass_gate(effects)? {
            return Ok(None);
        }
        let slot = self.probes.lend(self.now);
        slot.map(Some).ok_or_else(|| self.refuse(None))
    }

    /// Takes note of how a call ended that was let in during the stay `generation`.
    ///
    /// A result that comes after another state was entered says nothing about the present and
    /// changes nothing. One that comes after its slot was lost counts: a breaker whose probes all
    /// outlast their lease would never decide without it.
    pub(super) fn exit(
        &mut self,
        generation: u64,
        slot: Option<Slot>,
        ending: Ending<'_>,
        effects: &mut Effects,
    ) {
        if generation != self.generation() {
            self.note_late(&ending);
            return;
        }
        let holds_slot = slot.is_some_and(|slot| self.probes.end_lease(slot));
        match ending.outcome {
            Outcome::Success => self.record(false, ending, effects),
            Outcome::Failure => self.record(true, ending, effects),
            Outcome::Ignored if holds_slot => self.probes.give_back(),
            Outcome::Ignored => {}
        }
        if ending.open_for > 0 && self.state() == State::Closed {
            let wait = ending.open_for.min(saturating_nanos(self.config.open_for_max()));
            self.enter_state(State::Open, self.now, Some(wait), effects);
        }
    }

    /// Takes note of a success that is not slow, if it cannot change the state; else nothing is done.
    ///
    /// It cannot where no threshold is exceeded and it pushes a call out of a full window, or where
    /// nothing in the window speaks against the callee: neither rate gets higher then.
    #[inline]
    pub(super) fn succeed_quietly(&mut self, generation: u64, elapsed: u64, now: u64) -> bool {
        let counts = matches!(self.state(), State::Closed | State::MetricsOnly);
        let slow = elapsed > self.config.slow_beyond();
        let Some(window) = &mut self.tally.window else { return false };
        if !counts || slow || !self.settled || generation != self.phase.generation() {
            return false;
        }
        self.now = self.now.max(now);
        let sums = window.sums(self.now);
        if !window.is_full() && (sums.failed > 0 || sums.slow > 0) {
            return false;
        }
        window.record(Call { failed: false, slow: false }, self.now);
        self.streaks.succeed();
        self.look_for_calm();
        true
    }

    /// Takes back the slot of a call that was dropped before it ended.
    pub(super) fn cancel(&mut self, generation: u64, slot: Option<Slot>) {
        if generation == self.generation() && slot.is_some_and(|slot| self.probes.end_lease(slot)) {
            self.probes.give_back();
        }
    }
}

/// Calls that are tied to nothing, as Resilience4j's: they count in the state that they meet.
impl Engine {
    pub(super) fn try_acquire_permission(&mut self, effects: &mut Effects) -> Result<(), Refusal> {
        if !self.pass_gate(effects)? || self.probes.take() {
            return Ok(());
        }
        Err(self.refuse(None))
    }

    pub(super) fn on_ending(&mut self, ending: Ending<'_>, effects: &mut Effects) {
        match ending.outcome {
            Outcome::Ignored => self.release_permission(),
            outcome => {
                self.record(outcome == Outcome::Failure, ending, effects);
            }
        }
    }

    pub(super) fn release_permission(&mut self) {
        if self.state() == State::HalfOpen {
            self.probes.give_back();
        }
    }
}

/// Changes by hand.
impl Engine {
    /// `open_for` is the wait of an OPEN state that is not to follow the configuration.
    ///
    /// The error is the present state, from which there is no way to `to`.
    pub(super) fn transition_to(
        &mut self,
        to: State,
        open_for: Option<u64>,
        effects: &mut Effects,
    ) -> Result<(), State> {
        let from = self.state();
        if !from.can_become(to) {
            return Err(from);
        }
        self.by_hand = true;
        self.enter_state(to, self.now, open_for, effects);
        Ok(())
    }

    pub(super) fn reset(&mut self, effects: &mut Effects) {
        self.by_hand = false;
        self.enter_state(State::Closed, self.now, None, effects);
        effects.push(Effect::Reset);
    }

    /// Goes on with other settings: state, time left, probes and, where its shape stays, the
    /// window are kept.
    pub(super) fn reconfigure(&mut self, config: Arc<CircuitBreakerConfig>) {
        let old = std::mem::replace(&mut self.config, config);
        let shape = self.shape();
        if let Some(window) = &mut self.tally.window
            && window.shape() != shape
        {
            *window = Window::new(shape);
        }
        let permitted = self.config.permitted_number_of_calls_in_half_open_state();
        if permitted != old.permitted_number_of_calls_in_half_open_state()
            && self.state() == State::HalfOpen
            && self.phase.joined().is_none()
        {
            self.probes.resize(permitted);
        }
        if self.config.failure_streaks != old.failure_streaks {
            self.streaks.adopt(&self.config.failure_streaks);
        }
        self.set_timer();
    }
}

impl Engine {
    /// Whether a call that passes needs a probe's slot.
    fn pass_gate(&mut self, effects: &mut Effects) -> Result<bool, Refusal> {
        match self.state() {
            State::Closed | State::Disabled | State::MetricsOnly => Ok(false),
            State::HalfOpen => Ok(true),
            State::ForcedOpen => Err(self.refuse(None)),
            State::Open => {
                let left = self.phase.ends_at().unwrap_or(0).saturating_sub(self.now);
                // Strictly after the wait: at its very end the call is still refused.
                let is_over = self.phase.ends_at().is_some_and(|end| end < self.now);
                if is_over && self.phase.joined().is_none() {
                    self.enter_state(State::HalfOpen, self.now, None, effects);
                    Ok(true)
                } else {
                    let is_told = is_over.then(|| saturating_nanos(self.config.sync_interval()));
                    Err(self.refuse(Some(is_told.unwrap_or(left.max(1)))))
                }
            }
        }
    }

    /// Counts calls that were refused in the present state without asking.
    pub(super) fn add_refused(&mut self, calls: u64) {
        self.tally.not_permitted += calls;
    }

    fn refuse(&mut self, wait: Option<u64>) -> Refusal {
        self.tally.not_permitted += 1;
        Refusal { state: self.state(), wait }
    }

    fn record(&mut self, failed: bool, ending: Ending<'_>, effects: &mut Effects) {
        let Some(window) = &mut self.tally.window else { return };
        let slow = ending.elapsed > self.config.slow_beyond();
        window.record(Call { failed, slow }, self.now);
        self.look_for_calm();
        let row_reached = if failed {
            self.streaks.fail(ending.kinds, &self.config.failure_streaks)
        } else {
            // Where rates decide, a probe that was slow is no sign of recovery.
            if slow && !self.config.half_open_counts_in_a_row() {
                self.streaks.interrupt();
            } else {
                self.streaks.succeed();
            }
            false
        };
        self.settled = true;
        match (self.state(), self.config.failure_counting()) {
            (State::Closed, FailureCounting::Consecutive) if row_reached => {
                self.enter_state(State::Open, self.now, None, effects);
            }
            (State::Closed, FailureCounting::Rate) if self.tell_exceeded(effects) => {
                self.enter_state(State::Open, self.now, None, effects);
            }
            (State::MetricsOnly, FailureCounting::Rate) => {
                self.settled = !self.tell_exceeded(effects);
            }
            (State::HalfOpen, _) if self.phase.joined().is_none() => {
                if let Some(to) = self.half_open_verdict() {
                    self.enter_state(to, self.now, None, effects);
                }
            }
            _ => {}
        }
    }

    /// Tells of each threshold that is exceeded, once in a stay; whether one is.
    fn tell_exceeded(&mut self, effects: &mut Effects) -> bool {
        let sums = self.tally.window.as_ref().map(|window| window.sums(self.now));
        if sums.is_none_or(|sums| sums.failed == 0 && sums.slow == 0) {
            // Thresholds are above zero: most calls need no division.
            return false;
        }
        let Rates { failure, slow } = self.snapshot(self.now).rates;
        let exceeded = Exceeded {
            failure: failure >= self.config.failure_rate_threshold(),
            slow: slow >= self.config.slow_call_rate_threshold(),
        };
        if exceeded.failure && !self.told.failure {
            self.told.failure = true;
            effects.push(Effect::FailureRateExceeded(failure));
        }
        if exceeded.slow && !self.told.slow {
            self.told.slow = true;
            effects.push(Effect::SlowCallRateExceeded(slow));
        }
        exceeded.failure || exceeded.slow
    }

    /// Where the probes so far lead, if they lead anywhere yet.
    fn half_open_verdict(&self) -> Option<State> {
        let config = &self.config;
        let wanted_successes = config.half_open_success_threshold();
        if wanted_successes.is_some_and(|wanted| self.streaks.successes() >= u64::from(wanted)) {
            return Some(State::Closed);
        }
        let Snapshot { sums, rates, .. } = self.snapshot(self.now);
        let permitted = u64::from(config.permitted_number_of_calls_in_half_open_state());
        let to_come = permitted.saturating_sub(sums.calls);
        if config.half_open_counts_in_a_row() {
            let last_failed = self.streaks.successes() == 0;
            // The row can fall short at the last probe only when settings changed on the way.
            let falls_short = (to_come == 0).then_some(State::Closed);
            return if last_failed { Some(State::Open) } else { falls_short };
        }
        let exceeds = |failure_rate, slow_rate| {
            failure_rate >= config.half_open_failure_rate_threshold()
                || slow_rate >= config.slow_call_rate_threshold()
        };
        let (opens, closes) = match config.half_open_evaluation() {
            HalfOpenEvaluation::Eager if sums.calls < u64::from(config.half_open_minimum()) => {
                return None;
            }
            HalfOpenEvaluation::Eager => (exceeds(rates.failure, rates.slow), true),
            HalfOpenEvaluation::Conclusive => {
                let at_end =
                    |failed, slow| exceeds(percent(failed, permitted), percent(slow, permitted));
                (
                    at_end(sums.failed, sums.slow),
                    !at_end(sums.failed + to_come, sums.slow + to_come),
                )
            }
        };
        // With a number of successes to wait for, good rates alone close only at the last probe.
        let closes = closes && (wanted_successes.is_none() || to_come == 0);
        match (opens, closes) {
            (true, _) => Some(State::Open),
            (false, true) => Some(State::Closed),
            (false, false) => None,
        }
    }

    /// Begins a new stay, also in the same state; a stay in the same state is no news.
    fn enter_state(&mut self, to: State, at: u64, open_for: Option<u64>, effects: &mut Effects) {
        self.begin_stay(to, at, open_for, false, effects);
    }

    fn begin_stay(
        &mut self,
        to: State,
        at: u64,
        open_for: Option<u64>,
        shared: bool,
        effects: &mut Effects,
    ) {
        let from = self.state();
        let before = self.snapshot(at);
        self.phase.enter(to, at, open_for, &self.config);
        self.furnish();
        self.set_timer();
        if from != to {
            self.transitions += 1;
            effects.push(Effect::Transition { from, to, at, before, shared });
        }
    }

    /// Takes note of what a change means for time and for those who follow the breaker.
    fn set_timer(&mut self) {
        self.settled = false;
        self.timer = self.end_of_silence().or_else(|| self.next_timer()).unwrap_or(u64::MAX);
        self.look_for_calm();
        self.changed = true;
    }

    fn look_for_calm(&mut self) {
        let counts = matches!(self.state(), State::Closed | State::MetricsOnly);
        let calm = counts && self.tally.window.as_ref().is_some_and(Window::is_full_of_successes);
        self.changed |= calm != self.calm;
        self.calm = calm;
    }

    /// Gives the state that was just entered what it starts with.
    fn furnish(&mut self) {
        self.streaks.clear();
        self.told = Exceeded::default();
        self.probes = Probes::default();
        match self.state() {
            State::Open => {
                if self.tally.window.is_none() {
                    self.tally.scope = Scope::Calls;
                    self.tally.window = Some(Window::new(self.shape()));
                }
                return;
            }
            State::Closed | State::MetricsOnly => {
                self.tally.scope = Scope::Calls;
                self.tally.window = Some(Window::new(self.shape()));
            }
            State::HalfOpen => {
                let permitted = self.config.permitted_number_of_calls_in_half_open_state();
                self.probes = Probes::new(permitted);
                self.tally.scope = Scope::Probes;
                self.tally.window = Some(Window::new(self.shape()));
            }
            State::Disabled | State::ForcedOpen => self.tally.window = None,
        }
        self.tally.not_permitted = 0;
    }

    fn shape(&self) -> Shape {
        match self.tally.scope {
            Scope::Calls => self.config.window(),
            // Probes are counted, whatever the window of the closed breaker holds.
            Scope::Probes => {
                Shape::Calls(self.config.permitted_number_of_calls_in_half_open_state())
            }
        }
    }

    fn snapshot(&self, now: u64) -> Snapshot {
        let Some(window) = &self.tally.window else {
            return Snapshot { not_permitted: self.tally.not_permitted, ..Snapshot::EMPTY };
        };
        let minimum = match self.tally.scope {
            Scope::Calls => self.config.window_minimum(),
            Scope::Probes => self.config.half_open_minimum(),
        };
        let sums = window.sums(now);
        Snapshot { rates: Rates::of(&sums, minimum), sums, not_permitted: self.tally.not_permitted }
    }
}

#[cfg(test)]
mod tests;
