//! A state that breakers of many processes have in common.
//!
//! The breaker of each process decides for itself, as it always does. Beside that it tells the store
//! now and then what it has counted, and hears what comes of all that was told; nothing of it is on
//! the path of a call. While the others are CLOSED, the breaker is on its own. Once they are OPEN or
//! `HALF_OPEN` it joins them: such a stay ends when the store says so, and only the probes that the store
//! has lent may start.

mod counts;
mod exchange;
mod question;
mod told;

use super::{
    State,
    engine::{Effects, Engine},
};
use crate::{
    backing::Backing,
    store::{Answer, BREAKER, Key, Reply, Store, Undecided},
};

pub(super) use counts::Counts;
use counts::{Ledger, Recent};
pub(super) use exchange::Exchange;
use question::Question;
pub(super) use told::Told;

/// One of the breakers that share a state.
#[derive(Debug)]
pub(super) struct Sharing {
    store: Store,
    key: Key,
    /// Tells this one from the others.
    node: String,
    exchanges: u64,
    /// Whether the last exchange was answered.
    in_touch: bool,
    /// The stay that was last told of.
    generation: u64,
    openings: u32,
    ledger: Ledger,
    recent: Recent,
    /// All calls that were refused until the last exchange.
    refused: u64,
    /// Whether there were any since the others opened.
    has_callers: bool,
}

/// What a breaker has counted since it was made.
#[derive(Debug, Clone, Copy)]
pub(super) struct Totals {
    /// Calls that have ended in the stay that let them in.
    pub(super) counts: Counts,
    pub(super) refused: u64,
}

impl Sharing {
    /// With whoever has the same store; nobody without one.
    pub(super) fn new(backing: &Backing, name: &str, key: Option<&str>) -> Option<Box<Self>> {
        let store = backing.store()?;
        Some(Box::new(Self {
            key: store.key("cb", name, key),
            store: store.clone(),
            node: format!("{:016x}", fastrand::u64(..)),
            exchanges: 0,
            in_touch: false,
            generation: 0,
            openings: 0,
            ledger: Ledger::default(),
            recent: Recent::default(),
            refused: 0,
            has_callers: false,
        }))
    }

    pub(super) fn node(&self) -> &str {
        &self.node
    }

    pub(super) fn store(&self) -> &Store {
        &self.store
    }

    /// Whether the breaker's state is one that all know of.
    pub(super) fn is_common(&self, engine: &Engine) -> bool {
        let is_own = engine.state() != State::Closed && !engine.is_joined();
        self.in_touch && engine.takes_part() && !is_own
    }

    /// Takes note of the stay that the breaker is in.
    pub(super) fn turn(&mut self, engine: &Engine, totals: impl FnOnce() -> Counts) {
        let is_told = engine.takes_part() && engine.state() == State::Closed;
        self.ledger.turn((engine.generation(), is_told), totals);
    }

    /// Tells the store what there is to tell; not from a state that somebody has chosen.
    fn ask(&mut self, engine: &mut Engine, totals: Totals, now: u64) -> Option<Answer> {
        let counts = self.ledger.take(totals.counts);
        let refused = totals.refused.saturating_sub(self.refused);
        self.refused = totals.refused;
        if !engine.takes_part() {
            self.in_touch = false;
            return None;
        }
        let config = engine.config().clone();
        let permitted = config.permitted_number_of_calls_in_half_open_state();
        let share = permitted.div_ceil(self.store.nodes()).into();
        let (probes, gives_up) = engine.probes_so_far();
        self.has_callers = engine.is_joined() && (self.has_callers && !gives_up || refused > 0);
        // Whoever has just given probes up leaves them to others for once.
        let wants = self.has_callers && engine.could_probe() && !gives_up;
        self.exchanges += 1;
        let question = Question {
            exchange: self.exchanges,
            generation: self.generation,
            openings: self.openings,
            counts,
            recent: self.recent.add(counts, now, question::window(&config)),
            probes,
            wanted: if wants { refused.clamp(1, share) } else { 0 },
            share,
        };
        let arguments = question.arguments(&self.node, &config);
        Some(self.store.decide(&BREAKER, &self.key, arguments))
    }

    /// Follows the answer, or goes on alone where there is none.
    fn hear(
        &mut self,
        answer: &Result<Reply, Undecided>,
        engine: &mut Engine,
        effects: &mut Effects,
    ) {
        let told = answer.as_ref().ok().and_then(Told::read);
        if answer.is_ok() && told.is_none() {
            self.store.note_garbage();
        }
        self.in_touch = told.is_some();
        let Some(told) = told else { return engine.go_alone(effects) };
        // Where the store has forgotten a stay that nobody touched, what was counted since is in it by now.
        if told.generation != self.generation && told.generation != 0 {
            self.recent.clear();
        }
        self.generation = told.generation;
        self.openings = told.openings;
        engine.follow(told, effects);
    }
}
