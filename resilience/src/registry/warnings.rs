use std::collections::HashSet;

use resilience_settings::Pattern;

use super::{
    check::{Until, Warning},
    log,
};
use crate::{
    config::{Finding, Report},
    sync::plain::Mutex,
};

/// How many warnings of each sort a registry keeps: names may be made up at run time, by the
/// thousand.
const MAX_WARNINGS: usize = 1000;

/// What was found questionable.
#[derive(Default)]
pub(super) struct Warnings {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// By the check of the configuration that is in force.
    of_config: Vec<(Finding, Option<Until>)>,
    /// When a name was used.
    at_use: Vec<(Finding, Option<Until>)>,
    /// The instances of which it was said once.
    told: HashSet<(Pattern, String)>,
}

impl Warnings {
    /// All but those that are settled by now.
    pub(super) fn all(&self, is_settled: impl Fn(&Until) -> bool) -> Report {
        let (of_config, at_use) = {
            let state = self.state.lock();
            (state.of_config.clone(), state.at_use.clone())
        };
        let all = of_config.into_iter().chain(at_use);
        let open = all.filter(|(_, until)| !until.as_ref().is_some_and(&is_settled));
        open.map(|(finding, _)| finding).collect()
    }

    /// Adds what came up when a name was used.
    pub(super) fn add(&self, warning: impl Into<Warning>) {
        let Warning { finding, once, until } = warning.into();
        {
            let mut state = self.state.lock();
            if once.is_some_and(|instance| !state.told.insert(instance))
                || state.at_use.len() == MAX_WARNINGS
                || state.at_use.iter().any(|(known, _)| *known == finding)
            {
                return;
            }
            state.at_use.push((finding.clone(), until));
        }
        log::found(&finding);
    }

    /// Takes what the check of another configuration has found in the place of what was found before,
    /// and gives what is new.
    #[must_use = "what is new is to be logged once no lock is held"]
    pub(super) fn replace(&self, found: Vec<Warning>) -> Vec<Finding> {
        let mut state = self.state.lock();
        let before = std::mem::take(&mut state.of_config);
        let before: HashSet<Finding> = before.into_iter().map(|(finding, _)| finding).collect();
        let mut new = Vec::new();
        for Warning { finding, once, until } in found {
            let first = once.is_none_or(|instance| state.told.insert(instance));
            let is_new = first && !before.contains(&finding);
            if is_new {
                new.push(finding.clone());
            }
            if (is_new || before.contains(&finding)) && state.of_config.len() < MAX_WARNINGS {
                state.of_config.push((finding, until));
            }
        }
        new
    }
}
