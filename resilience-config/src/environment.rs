use std::{collections::HashMap, ffi::OsString};

use resilience_settings::{Key, Pattern, Type, Value, schema};

use crate::{
    Origin, Problem,
    address::STORE,
    complaints::Complaints,
    gathered::Slot,
    hint::{Hints, question},
    property::{Leaf, one_line},
    reader::Reader,
    source::Spot,
    tree::{Entries, Group, Tree},
    value::Raw,
};

/// What starts every variable of ours.
const PREFIX: &str = "RESILIENCE_";
/// Variables that are no settings of an instance.
pub(crate) const PROFILES: &str = "RESILIENCE_PROFILES_ACTIVE";
#[cfg(feature = "files")]
pub(crate) const SPRING_PROFILES: &str = "SPRING_PROFILES_ACTIVE";
pub(crate) const APPLICATION: &str = "RESILIENCE_APPLICATION";
const STRICT: &str = "RESILIENCE_STRICT";

/// A variable whose name is text.
#[derive(Debug, Clone)]
pub(crate) struct Variable {
    pub(crate) name: String,
    /// `None` where it is not UTF-8: that matters only for those that are read.
    pub(crate) value: Option<String>,
}

impl Variable {
    /// The value, or the problem that it is none.
    ///
    /// # Errors
    ///
    /// When it is not UTF-8.
    pub(crate) fn text(&self) -> Result<&str, Problem> {
        self.value.as_deref().ok_or_else(|| Problem::new("the value is not UTF-8"))
    }
}

/// The variables whose names are text; a name of ours that is not sets nothing, and is told.
pub(crate) fn with_names(
    variables: impl IntoIterator<Item = (OsString, OsString)>,
    report: &mut Complaints,
) -> Vec<Variable> {
    let mut named = Vec::new();
    for (name, value) in variables {
        match name.into_string() {
            Ok(name) => named.push(Variable { name, value: value.into_string().ok() }),
            Err(name) => {
                let shown = one_line(&name.to_string_lossy());
                if shown.to_ascii_uppercase().starts_with(PREFIX) {
                    report.warn(format!("environment {shown} sets nothing: its name is not UTF-8"));
                }
            }
        }
    }
    named
}

/// Lays the variables over what is declared already: they change values, never declare instances.
pub(crate) fn read(reader: &mut Reader<'_>, variables: &[Variable]) {
    let mut seen = HashMap::new();
    for value in variables {
        let variable = &one_line(&value.name);
        let upper = variable.to_ascii_uppercase();
        if upper.starts_with("RESILIENCE4J_") {
            reader
                .report
                .warn(format!("environment {variable} is not read; variables start with {PREFIX}"));
        }
        let Some(rest) = upper.strip_prefix(PREFIX) else { continue };
        match upper.as_str() {
            PROFILES | APPLICATION => {}
            STRICT => {
                if let Some(strict) = switch(reader, variable, value, "strict") {
                    *reader.strict = strict;
                }
            }
            // Without case and separators, `MAXATTEMPTS` and `MAX_ATTEMPTS` are one.
            _ => match seen.insert(meant(&folded(rest)), variable.clone()) {
                None => read_setting(reader, variable, &folded(rest), value),
                Some(first) => {
                    let problem = Problem::new(format!("it sets the same as {first}; keep one"));
                    reader.report.problem_at(&Spot::environment(variable), problem);
                }
            },
        }
    }
}

fn read_setting(reader: &mut Reader<'_>, variable: &str, rest: &str, value: &Variable) {
    match find(reader.tree, &reader.report.hints, rest) {
        Found::Enabled(pattern) => {
            if let Some(on) = switch(reader, variable, value, &format!("{pattern}.enabled")) {
                let origin = Origin::Environment(variable.to_owned());
                reader.tree.section_mut(pattern).enabled = Some((on, origin));
            }
        }
        Found::Key { pattern, group, name, slot } => {
            if let Some(value) = text(reader, variable, value) {
                reader.overrule((pattern, group, &name), slot, value, variable);
            }
        }
        Found::StoreKey(slot) => {
            if let Some(value) = text(reader, variable, value) {
                reader.overrule_store_key(slot, value, variable);
            }
        }
        Found::Ambiguous(names) => {
            let message = format!("it may mean {}; rename one of them", names.join(" or "));
            reader.report.problem_at(&Spot::environment(variable), Problem::new(message));
        }
        Found::Nothing(hint) => {
            reader.report.warn(format!("environment {variable} sets nothing: {hint}"));
        }
    }
}

/// The value of a variable that sets something.
fn text<'v>(reader: &mut Reader<'_>, variable: &str, value: &'v Variable) -> Option<&'v str> {
    let text = value.text();
    text.map_err(|problem| reader.report.problem_at(&Spot::environment(variable), problem)).ok()
}

fn switch(reader: &mut Reader<'_>, variable: &str, value: &Variable, path: &str) -> Option<bool> {
    let value = text(reader, variable, value)?;
    let raw = Raw::Leaf(Leaf::Text(value.into()));
    match raw.read(&Type::Bool, reader.kinds) {
        Ok(read) => Some(read == Value::Bool(true)),
        Err(message) => {
            let problem = Problem::new(message).path(path).value(value);
            reader.report.problem_at(&Spot::environment(variable), problem);
            None
        }
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Found {
    Enabled(Pattern),
    Key { pattern: Pattern, group: Group, name: String, slot: Slot },
    StoreKey(usize),
    Ambiguous(Vec<String>),
    Nothing(String),
}

/// The form in which variables and names are compared: a variable's name has only letters and
/// digits to tell names apart.
fn folded(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Where two variables set the same: what they set, in one spelling.
fn meant(folded: &str) -> String {
    let key = folded.strip_prefix(STORE).and_then(|key| Key::find(schema::REDIS, key));
    key.map_or_else(|| folded.to_owned(), |(_, key)| format!("{STORE}{}", key.name))
}

/// Finds what a variable, folded and without prefix, is about.
fn find(tree: &Tree, hints: &Hints, rest: &str) -> Found {
    if let Some(key) = rest.strip_prefix(STORE) {
        return find_store_key(hints, key);
    }
    let pattern = Pattern::ALL
        .iter()
        .copied()
        .find_map(|pattern| Some((pattern, rest.strip_prefix(&folded(pattern.section()))?)));
    let Some((pattern, rest)) = pattern else {
        let head: String = rest.chars().take(40).collect();
        let sections = Pattern::ALL.iter().map(|pattern| pattern.section()).chain([STORE]);
        let near = sections.into_iter().find(|section| {
            let section = folded(section);
            let length = section.chars().count();
            let head: String = head.chars().take(length).collect();
            hints.nearest(&head, [section.as_str()]).is_some()
        });
        let hint = near.map(|near| question(shouted(near)));
        return Found::Nothing(format!("it names no pattern{}", hint.unwrap_or_default()));
    };
    if rest == "enabled" {
        return Found::Enabled(pattern);
    }
    let budgets = (pattern == Pattern::Retry).then_some(Group::Budgets);
    for group in [Group::Instances, Group::Configs].into_iter().chain(budgets) {
        if let Some(rest) = rest.strip_prefix(group.name()) {
            return find_key(tree, hints, (pattern, group), rest);
        }
    }
    Found::Nothing(format!(
        "after {PREFIX}{} comes INSTANCES, CONFIGS{} or ENABLED",
        shouted(pattern.section()),
        if budgets.is_some() { ", BUDGETS" } else { "" }
    ))
}

fn find_store_key(hints: &Hints, key: &str) -> Found {
    if let Some((slot, _)) = Key::find(schema::REDIS, key) {
        return Found::StoreKey(slot);
    }
    let keys = || {
        schema::REDIS
            .iter()
            .flat_map(|key| [key.name].into_iter().chain(key.aliases.iter().copied()))
    };
    let near = hints.nearest(key, keys()).map(|near| question(shouted(near)));
    Found::Nothing(format!("`{STORE}` has no such key{}", near.unwrap_or_default()))
}

fn find_key(tree: &Tree, hints: &Hints, (pattern, group): (Pattern, Group), rest: &str) -> Found {
    let declared = tree.section(pattern).map(|section| section.group(group));
    let mut names: Vec<&str> = declared.into_iter().flat_map(Entries::names).collect();
    // `configs.default` is there even when no file writes it.
    if group == Group::Configs && !names.iter().any(|name| folded(name) == "default") {
        names.push("default");
    }
    let mut longest = 0;
    let mut found: Vec<(&str, Slot)> = Vec::new();
    for &name in &names {
        let prefix = folded(name);
        let Some(slot) = rest.strip_prefix(&prefix).and_then(|key| slot_of((pattern, group), key))
        else {
            continue;
        };
        if prefix.len() > longest {
            longest = prefix.len();
            found.clear();
        }
        if prefix.len() == longest {
            found.push((name, slot));
        }
    }
    match found.as_slice() {
        [(name, slot)] => Found::Key { pattern, group, name: (*name).to_owned(), slot: *slot },
        [] => Found::Nothing(nothing_found(hints, (pattern, group), &names, rest)),
        several => Found::Ambiguous(several.iter().map(|(name, _)| format!("`{name}`")).collect()),
    }
}

/// The slot that is written `text`.
fn slot_of((pattern, group): (Pattern, Group), text: &str) -> Option<Slot> {
    if group.has_bases() && text == "baseconfig" {
        return Some(Slot::Base);
    }
    group.key(pattern, text).map(|(slot, _)| Slot::Key(slot))
}

/// What is wrong with a variable, and what it may have meant.
fn nothing_found(
    hints: &Hints,
    (pattern, group): (Pattern, Group),
    names: &[&str],
    rest: &str,
) -> String {
    let base = || group.has_bases().then_some("base_config");
    let keys = || group.keys(pattern).iter().map(|key| key.name).chain(base());
    let of_key = keys().filter(|key| rest.ends_with(&folded(key)));
    let written = match of_key.max_by_key(|key| key.len()) {
        Some(key) => &rest[..rest.len() - folded(key).len()],
        None => rest,
    };
    let near = hints.did_you_mean(written, names.iter().copied());
    let of_name = names.iter().filter(|name| rest.starts_with(&folded(name)));
    if near.is_none()
        && let Some(name) = of_name.max_by_key(|name| folded(name).len())
    {
        let key = &rest[folded(name).len()..];
        let near = hints.nearest(key, keys()).map(|near| question(shouted(near)));
        return format!("`{name}` has no such key{}", near.unwrap_or_default());
    }
    let what = match group {
        Group::Instances => "declared instance",
        Group::Configs => "config",
        Group::Budgets => "declared budget",
    };
    format!("it names no {what} of {pattern}{}", near.unwrap_or_default())
}

/// As one would write it in a variable's name.
fn shouted(text: &str) -> String {
    text.to_ascii_uppercase().replace('-', "_")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(names: &[&str]) -> Tree {
        let mut tree = Tree::default();
        for name in names {
            tree.section_mut(Pattern::CircuitBreaker)
                .instances
                .declare(name, || Spot::environment("X"));
        }
        tree
    }

    fn found(names: &[&str], variable: &str) -> Found {
        find(&tree(names), &Hints::default(), &folded(variable))
    }

    fn key_name(found: &Found) -> Option<(&str, &'static str)> {
        match found {
            Found::Key { pattern, name, slot: Slot::Key(slot), .. } => {
                Some((name, pattern.keys()[*slot].name))
            }
            _ => None,
        }
    }

    #[test]
    fn names_and_keys_match_without_case_and_separators() {
        for variable in [
            "CIRCUITBREAKER_INSTANCES_PAYMENTCB_FAILURERATETHRESHOLD",
            "CIRCUIT_BREAKER_INSTANCES_PAYMENT_CB_FAILURE_RATE_THRESHOLD",
        ] {
            let found = found(&["paymentCb"], variable);
            assert_eq!(key_name(&found), Some(("paymentCb", "failure_rate_threshold")));
        }
    }

    #[test]
    fn the_longest_name_wins() {
        let names = ["x", "x-half-open"];
        let found = found(&names, "CIRCUITBREAKER_INSTANCES_X_HALF_OPEN_FAILURE_RATE_THRESHOLD");
        assert_eq!(key_name(&found), Some(("x-half-open", "failure_rate_threshold")));
    }

    #[test]
    fn names_that_a_variable_cannot_tell_apart_are_ambiguous() {
        let found = found(&["a/b", "ab"], "CIRCUITBREAKER_INSTANCES_AB_ENABLED");
        assert_eq!(found, Found::Ambiguous(vec!["`a/b`".into(), "`ab`".into()]));
    }

    #[test]
    fn the_thread_pool_is_not_taken_for_the_bulkhead() {
        assert_eq!(
            found(&[], "THREAD_POOL_BULKHEAD_ENABLED"),
            Found::Enabled(Pattern::ThreadPoolBulkhead)
        );
        assert_eq!(found(&[], "BULKHEAD_ENABLED"), Found::Enabled(Pattern::Bulkhead));
    }

    #[test]
    fn what_fits_nothing_is_told_the_nearest() {
        let names = ["paymentCb"];
        for (variable, hint) in [
            ("CIRCUITBRAKER_ENABLED", "it names no pattern; did you mean CIRCUITBREAKER?"),
            ("REDIZ_URL", "it names no pattern; did you mean REDIS?"),
            (
                "CIRCUITBREAKER_INSTANCES_PAYMENTCB_FAILURERATETRESHOLD",
                "`paymentCb` has no such key; did you mean FAILURE_RATE_THRESHOLD?",
            ),
            (
                "CIRCUITBREAKER_INSTANCES_PAYMENTSCB_ENABLED",
                "it names no declared instance of circuitbreaker; did you mean `paymentCb`?",
            ),
            ("RETRY_MAX", "after RESILIENCE_RETRY comes INSTANCES, CONFIGS, BUDGETS or ENABLED"),
        ] {
            assert_eq!(found(&names, variable), Found::Nothing(hint.into()));
        }
    }
}
