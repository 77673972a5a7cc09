//! What happens to keyed instances whatever is done to them, against a model that knows which of them
//! may go.

#![allow(clippy::unwrap_used)] // helpers of tests

use std::{collections::HashMap, time::Duration};

use proptest::prelude::*;
use resilience::{Bulkhead, BulkheadConfig, Clock, ManualClock, bulkhead::Permit};

const IDLE: u64 = 100;

#[derive(Debug, Clone)]
enum Step {
    LookUp(u8),
    /// Looks a key up and keeps the handle.
    Hold(u8),
    /// Takes a slot with a guard.
    Enter(u8),
    /// Takes a slot without one.
    Take(u8),
    /// Gives one of those back.
    GiveBack(u8),
    /// Lets go of everything that is held for a key.
    LetGo(u8),
    Advance(u64),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let key = || 0..12_u8;
    let step = prop_oneof![
        6 => key().prop_map(Step::LookUp),
        1 => key().prop_map(Step::Hold),
        2 => key().prop_map(Step::Enter),
        1 => key().prop_map(Step::Take),
        2 => key().prop_map(Step::GiveBack),
        3 => key().prop_map(Step::LetGo),
        4 => (1..IDLE).prop_map(Step::Advance),
    ];
    prop::collection::vec(step, 1..150)
}

/// What is known of a key's instance.
#[derive(Default)]
struct Known {
    last_used: u64,
    handles: Vec<Bulkhead>,
    permits: Vec<Permit>,
    untied: u64,
    /// How many calls were let in by this very instance: an instance made afresh has had none.
    permitted: u64,
}

impl Known {
    fn may_go(&self, now: u64) -> bool {
        let is_held = !self.handles.is_empty() || !self.permits.is_empty() || self.untied > 0;
        !is_held && now - self.last_used > IDLE
    }
}

struct Run {
    bulkhead: Bulkhead,
    hand: ManualClock,
    now: u64,
    known: HashMap<u8, Known>,
    created: u64,
}

impl Run {
    fn new(max_keys: u32) -> Self {
        let (clock, hand) = Clock::manual(Duration::ZERO);
        let config = BulkheadConfig::builder()
            .max_concurrent_calls(1_000)
            .max_keys(max_keys)
            .key_idle_timeout(Duration::from_millis(IDLE));
        let bulkhead = Bulkhead::with_clock("tenant", config.build().unwrap(), clock);
        Self { bulkhead, hand, now: 0, known: HashMap::new(), created: 0 }
    }

    /// The key's own instance, with what is known of it.
    fn look_up(&mut self, key: u8) -> Option<(Bulkhead, &mut Known)> {
        let before = self.bulkhead.keyed_metrics();
        let found = self.bulkhead.keyed(&key);
        let after = self.bulkhead.keyed_metrics();
        let was_made = after.created > before.created;
        self.created += u64::from(was_made);
        assert_eq!(self.created, after.created);
        assert_eq!(after.live, after.created - after.evicted);
        if found.key().is_none() {
            assert_eq!(after.overflowed, before.overflowed + 1);
            let known = self.known.remove(&key);
            assert!(known.is_none_or(|known| known.may_go(self.now)), "it was there");
            return None;
        }
        assert_eq!(found.key(), Some(key.to_string().as_str()));
        let now = self.now;
        let known = self.known.entry(key).or_default();
        if was_made {
            assert!(known.permitted == 0 || known.may_go(now), "it went while it was in use");
            *known = Known::default();
        }
        known.last_used = now;
        assert_eq!(found.metrics().permitted, known.permitted, "the same instance");
        let taken = known.permits.len() as u64 + known.untied;
        assert_eq!(found.metrics().available_concurrent_calls, 1_000 - taken);
        Some((found, known))
    }

    fn step(&mut self, step: &Step) {
        match *step {
            Step::LookUp(key) => drop(self.look_up(key)),
            Step::Hold(key) => {
                if let Some((instance, known)) = self.look_up(key) {
                    known.handles.push(instance);
                }
            }
            Step::Enter(key) => {
                if let Some((instance, known)) = self.look_up(key) {
                    known.permits.push(instance.try_acquire().unwrap());
                    known.permitted += 1;
                }
            }
            Step::Take(key) => {
                if let Some((instance, known)) = self.look_up(key) {
                    assert!(instance.try_acquire_permission());
                    known.untied += 1;
                    known.permitted += 1;
                }
            }
            Step::GiveBack(key) => {
                if self.known.get(&key).is_some_and(|known| known.untied > 0) {
                    let (instance, known) = self.look_up(key).expect("it is in use");
                    instance.on_complete();
                    known.untied -= 1;
                }
            }
            Step::LetGo(key) => {
                if let Some(known) = self.known.get_mut(&key) {
                    known.handles.clear();
                    known.permits.clear();
                }
            }
            Step::Advance(by) => {
                self.now += by;
                self.hand.advance(Duration::from_millis(by));
            }
        }
    }
}

proptest! {
    #[test]
    fn an_instance_stays_the_same_for_as_long_as_it_is_in_use(steps in steps(), max in 1..10_u32) {
        let mut run = Run::new(max);
        for step in &steps {
            run.step(step);
            prop_assert!(run.bulkhead.keyed_metrics().live <= u64::from(max));
        }
        // Nobody needs any of them any more: there is room for a new key, in time.
        for known in run.known.values_mut() {
            known.handles.clear();
            known.permits.clear();
        }
        let in_use: Vec<u8> = run.known.iter().filter(|(_, k)| k.untied > 0).map(|(k, _)| *k).collect();
        for key in in_use {
            while run.known[&key].untied > 0 {
                run.step(&Step::GiveBack(key));
            }
        }
        run.step(&Step::Advance(IDLE + 1));
        let new = run.bulkhead.keyed("new");
        prop_assert_eq!(new.key(), Some("new"));
    }
}
