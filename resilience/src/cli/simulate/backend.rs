use std::{
    borrow::Cow,
    cell::{Cell, RefCell},
    rc::Rc,
};

use fastrand::Rng;

use super::scenario::Scenario;
use crate::{Clock, Error, ErrorKind};

/// What the protected calls reach.
pub(super) struct Backend {
    scenario: Rc<Scenario>,
    clock: Clock,
    rng: RefCell<Rng>,
    /// How many calls have reached it.
    reached: Cell<u64>,
}

/// An error of the backend.
#[derive(Debug)]
pub(super) struct Failed(&'static [&'static str]);

impl ErrorKind for Failed {
    fn kinds(&self) -> &'static [&'static str] {
        self.0
    }

    fn refusal(&self) -> Option<Cow<'_, Error>> {
        None
    }
}

impl Backend {
    pub(super) fn new(scenario: &Rc<Scenario>, clock: Clock) -> Rc<Self> {
        Rc::new(Self {
            scenario: Rc::clone(scenario),
            clock,
            rng: RefCell::new(Rng::with_seed(scenario.seed)),
            reached: Cell::new(0),
        })
    }

    pub(super) fn reached(&self) -> u64 {
        self.reached.get()
    }

    /// Answers one call, as the phase has it in which the call came.
    pub(super) async fn call(self: Rc<Self>) -> Result<(), Failed> {
        self.reached.set(self.reached.get() + 1);
        let (latency, outcome) = {
            let answer = self.scenario.backend.at(self.clock.now());
            let mut rng = self.rng.borrow_mut();
            (answer.latency(&mut rng), answer.outcome(&mut rng))
        };
        self.clock.sleep(latency).await;
        outcome.map_err(Failed)
    }
}
