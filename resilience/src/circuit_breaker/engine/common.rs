//! States that a breaker has in common with those of other processes.

use std::time::Duration;

use super::{
    super::{
        phase::Joined,
        shared::{Counts, Told},
    },
    Effects, Ending, Engine, Outcome, Probes, State,
};
use crate::clock::saturating_nanos;

/// No exchange takes longer, whatever the store's `decision_timeout`.
const LONGEST_EXCHANGE: Duration = Duration::from_secs(30);

/// What a half-open breaker did with the probes that it was lent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in super::super) struct ProbesSoFar {
    pub(in super::super) counts: Counts,
    /// Those that have not ended, or not begun.
    pub(in super::super) held: u64,
}

impl Engine {
    /// Whether it goes by what processes decide together: not while it is in a state that somebody has
    /// chosen, here or in the configuration.
    pub(in super::super) fn takes_part(&self) -> bool {
        let decides = matches!(self.state(), State::Closed | State::Open | State::HalfOpen);
        decides && !self.by_hand && self.config.is_enabled()
    }

    /// Whether the present stay is one that processes have in common.
    pub(in super::super) fn is_joined(&self) -> bool {
        self.phase.joined().is_some()
    }

    /// Calls that ended in a later stay than the one that let them in.
    pub(in super::super) fn late(&self) -> Counts {
        self.late
    }

    /// Whether it could begin probes if it had some: it is half-open, or open with its own wait over.
    pub(in super::super) fn could_probe(&self) -> bool {
        self.is_joined() && self.own_until() <= self.now
    }

    /// What came of the probes so far. Those that were not used for as long as a probe may take are given
    /// up: another process may have calls for them.
    pub(in super::super) fn probes_so_far(&mut self) -> (ProbesSoFar, bool) {
        if self.state() != State::HalfOpen {
            return Default::default();
        }
        let Some(mut joined) = self.phase.joined() else { return Default::default() };
        let lease = saturating_nanos(self.config.probe_lease());
        let is_late = joined.lent_at.saturating_add(lease) <= self.now;
        let given_up = if is_late { self.probes.drop_free() } else { 0 };
        joined.lent = joined.lent.saturating_sub(given_up);
        self.phase.remember(joined);
        let sums = self.snapshot(self.now).sums;
        let counts = Counts { calls: sums.calls, failed: sums.failed, slow: sums.slow };
        let held = joined.lent.saturating_sub(counts.calls);
        (ProbesSoFar { counts, held }, given_up > 0)
    }

    /// Follows what the processes have decided together, unless this one has reason to be stricter.
    pub(in super::super) fn follow(&mut self, told: Told, effects: &mut Effects) {
        if !self.takes_part() {
            return;
        }
        let is_known =
            self.phase.joined().is_some_and(|joined| joined.generation == told.generation);
        match told.state {
            State::Open if !(is_known && self.state() == State::Open) => {
                self.join_open(told, effects);
            }
            State::HalfOpen if is_known && self.state() == State::HalfOpen => {
                self.take_probes(told);
            }
            State::HalfOpen if self.own_until() <= self.now => self.join_half_open(told, effects),
            State::Closed if self.is_joined() => self.close_with_others(effects),
            _ => {}
        }
        if let Some(end) = self.end_of_silence() {
            self.timer = end;
        }
    }

    /// When a stay that others have to end is one of this process again if nothing is heard from now on,
    /// not even that an exchange has failed: whatever became of the store's thread, no breaker stays open
    /// because of it.
    pub(super) fn end_of_silence(&self) -> Option<u64> {
        let interval = self.config.sync_interval();
        self.is_joined()
            .then(|| self.now.saturating_add(saturating_nanos(LONGEST_EXCHANGE + interval * 2)))
    }

    /// Goes on without the others, who are not heard of.
    pub(in super::super) fn go_alone(&mut self, effects: &mut Effects) {
        if !self.is_joined() {
            return;
        }
        if self.state() == State::HalfOpen {
            // With probes of its own.
            self.enter_state(State::HalfOpen, self.now, None, effects);
        } else {
            self.phase.part(self.phase.ends_at());
            self.set_timer();
        }
    }

    pub(super) fn note_late(&mut self, ending: &Ending<'_>) {
        if ending.outcome != Outcome::Ignored {
            self.late.calls += 1;
            self.late.failed += u64::from(ending.outcome == Outcome::Failure);
            self.late.slow += u64::from(ending.elapsed > self.config.slow_beyond());
        }
    }

    /// Until when the breaker would be open without the others.
    fn own_until(&self) -> u64 {
        match self.phase.joined() {
            Some(joined) => joined.own_until,
            None => self.open_until(),
        }
    }

    fn join_open(&mut self, told: Told, effects: &mut Effects) {
        let own_until = self.own_until();
        self.begin_stay(State::Open, self.now, Some(told.left), true, effects);
        let end = self.now.saturating_add(told.left).max(own_until);
        let joined = Joined { generation: told.generation, own_until, ..Joined::default() };
        self.phase.join(joined, Some(end), told.openings);
        self.set_timer();
    }

    fn join_half_open(&mut self, told: Told, effects: &mut Effects) {
        if self.state() == State::Closed {
            // There is no other way from there.
            self.begin_stay(State::Open, self.now, Some(0), true, effects);
        }
        self.begin_stay(State::HalfOpen, self.now, None, true, effects);
        let joined = Joined {
            generation: told.generation,
            own_until: 0,
            lent: told.lent.into(),
            lent_at: self.now,
        };
        let end = (told.left > 0).then(|| self.now.saturating_add(told.left));
        self.phase.join(joined, end, told.openings);
        self.probes = Probes::new(told.lent);
        self.set_timer();
    }

    fn take_probes(&mut self, told: Told) {
        if told.lent > 0
            && let Some(joined) = self.phase.joined()
        {
            self.probes.add(told.lent);
            let lent = joined.lent.saturating_add(told.lent.into());
            self.phase.remember(Joined { lent, lent_at: self.now, ..joined });
        }
    }

    fn close_with_others(&mut self, effects: &mut Effects) {
        let own_until = self.own_until();
        if own_until > self.now {
            self.phase.part(Some(own_until));
            self.set_timer();
        } else {
            self.begin_stay(State::Closed, self.now, None, true, effects);
        }
    }
}
