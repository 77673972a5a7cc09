//! The budgets of retries: what is declared, and whether what instances name is among it.

use resilience_settings::{Key, Pattern, Value};

use crate::{
    Loaded, Origin, Problem,
    complaints::Complaints,
    hint::Hints,
    property::shorten,
    source::Spot,
    tree::{Entries, Entry, Group, Tree, path_of},
};

/// The key of a retry that names its budget.
const BUDGET: &str = "budget";

impl Loaded {
    /// The declared retry budgets, as they are spelled, in the order of declaration.
    pub fn retry_budgets(&self) -> impl Iterator<Item = &str> {
        declared(self.tree()).into_iter().flat_map(Entries::names)
    }

    /// A declared budget's name in its declared spelling.
    pub fn declared_budget(&self, name: &str) -> Option<&str> {
        Some(&declared(self.tree())?.get(name)?.name)
    }

    /// Every key of a budget with its value and where that came from; the defaults when nobody
    /// declares it.
    pub fn budget_values(&self, name: &str) -> Vec<(&'static Key, Value, Origin)> {
        let entry = declared(self.tree()).and_then(|budgets| budgets.get(name));
        let keys = Group::Budgets.keys(Pattern::Retry).iter().enumerate();
        let values = keys.filter_map(|(slot, key)| {
            let (value, origin) = match entry.and_then(|entry| entry.values.get(&slot)) {
                Some(written) => (**written).clone(),
                None => (key.default_value()?, Origin::Default),
            };
            Some((key, value, origin))
        });
        values.collect()
    }

    /// The same with full key paths, for [`effective`](Loaded::effective).
    pub fn effective_budget(&self, name: &str) -> impl Iterator<Item = (String, Value, Origin)> {
        let path = path_of(Pattern::Retry, Group::Budgets, name);
        let values = self.budget_values(name).into_iter();
        values.map(move |(key, value, origin)| (format!("{path}.{}", key.name), value, origin))
    }

    /// Whether an entry of the configuration takes its retries from this budget.
    pub fn spends_budget(&self, name: &str) -> bool {
        let budget = declared(self.tree()).and_then(|budgets| budgets.position(name));
        named_budgets(self.tree()).any(|(.., named, _)| {
            budget.is_some() && declared(self.tree()).and_then(|all| all.position(named)) == budget
        })
    }

    /// What to say of a budget that nobody declares.
    pub fn unknown_budget(&self, name: &str, hints: &Hints) -> String {
        unknown(declared(self.tree()), name, hints)
    }
}

/// Checks that every budget which an entry names is declared.
pub(crate) fn check_budgets(tree: &Tree, report: &mut Complaints) {
    let budgets = declared(tree);
    for (group, entry, name, origin) in named_budgets(tree) {
        if budgets.is_some_and(|budgets| budgets.get(name).is_some()) {
            continue;
        }
        let path = format!("{}.{BUDGET}", path_of(Pattern::Retry, group, &entry.name));
        let problem = Problem::new(unknown(budgets, name, &report.hints));
        let place = origin.place().unwrap_or_else(|| entry.spot.place.clone());
        let spot = Spot { order: entry.spot.order, place };
        report.problem_at(&spot, problem.path(path).value(shorten(name)));
    }
}

fn declared(tree: &Tree) -> Option<&Entries> {
    Some(&tree.section(Pattern::Retry)?.budgets)
}

/// Every entry that names a budget itself, with the budget and where it is named.
fn named_budgets(tree: &Tree) -> impl Iterator<Item = (Group, &Entry, &str, &Origin)> {
    let slot = Pattern::Retry.key(BUDGET).map(|(slot, _)| slot);
    let section = tree.section(Pattern::Retry).into_iter();
    let entries = section.flat_map(|section| {
        [Group::Configs, Group::Instances]
            .into_iter()
            .flat_map(|group| section.group(group).iter().map(move |entry| (group, entry)))
    });
    entries.filter_map(move |(group, entry)| match &**entry.values.get(&slot?)? {
        (Value::Word(name), origin) => Some((group, entry, name.as_str(), origin)),
        _ => None,
    })
}

fn unknown(budgets: Option<&Entries>, name: &str, hints: &Hints) -> String {
    const SHOWN: usize = 20;
    let names: Vec<&str> = budgets.into_iter().flat_map(Entries::names).collect();
    let hint = hints.did_you_mean(name, names.iter().copied()).unwrap_or_else(|| {
        if names.is_empty() {
            return "; declare it under retry.budgets".to_owned();
        }
        let more = if names.len() > SHOWN { ", …" } else { "" };
        format!("; known are {}{more}", names[..names.len().min(SHOWN)].join(", "))
    });
    format!("no budget of this name is declared{hint}")
}
