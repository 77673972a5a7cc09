use std::collections::HashSet;

use resilience_settings::canonical;

use super::{
    Problem,
    hint::Hints,
    property::shorten,
    report::Report,
    tree::{Base, Entries, Entry, Group, Tree, path_of},
};

/// The config that lies below every other, declared or not.
pub(crate) const DEFAULT: &str = "default";

/// Checks that every `base_config` names an entry and that none leads back to itself.
pub(crate) fn check_bases(tree: &Tree, report: &mut Report) {
    for (pattern, section) in tree.patterns() {
        let configs = &section.configs;
        // A circle is one mistake, however many entries are in it.
        let mut in_circles: HashSet<&str> = HashSet::new();
        for group in [Group::Configs, Group::Instances] {
            for entry in section.group(group).iter() {
                let Some(base) = &entry.base else { continue };
                let message = if !is_known(configs, &base.name) {
                    unknown_base(&base.name, configs, &report.hints)
                } else if group == Group::Configs && !in_circles.contains(entry.name.as_str()) {
                    let Some(circle) = circle(configs, entry, base) else { continue };
                    in_circles.extend(&circle);
                    lead_in_circle(&circle)
                } else {
                    continue;
                };
                let path = format!("{}.base_config", path_of(pattern, group, &entry.name));
                let problem = Problem::new(message).path(path).value(shorten(&base.name));
                report.problem_at(&base.spot, problem);
            }
        }
    }
}

/// Whether a base of this name is there.
pub(crate) fn is_known(configs: &Entries, name: &str) -> bool {
    configs.get(name).is_some() || canonical(name) == DEFAULT
}

/// The names on the way from an entry back to itself, if its bases lead there.
fn circle<'a>(configs: &'a Entries, entry: &'a Entry, base: &Base) -> Option<Vec<&'a str>> {
    let mut names = vec![entry.name.as_str()];
    let mut seen: HashSet<&str> = HashSet::new();
    let mut next = configs.get(&base.name);
    while let Some(here) = next {
        names.push(&here.name);
        if std::ptr::eq(here, entry) {
            return Some(names);
        }
        // Another circle lies below; it is told at its own entries.
        if !seen.insert(&here.name) {
            return None;
        }
        next = here.base.as_ref().and_then(|base| configs.get(&base.name));
    }
    None
}

fn lead_in_circle(names: &[&str]) -> String {
    match names {
        [_, _] => "an entry cannot be its own base".to_owned(),
        _ => format!("base_config leads in a circle: {}", names.join(" -> ")),
    }
}

/// The message for a base that no entry has.
pub(crate) fn unknown_base(name: &str, configs: &Entries, hints: &Hints) -> String {
    const SHOWN: usize = 20;
    let hint = hints.did_you_mean(name, configs.names()).unwrap_or_else(|| {
        let shown: Vec<&str> = configs.names().take(SHOWN).collect();
        let more = if configs.names().nth(SHOWN).is_some() { ", …" } else { "" };
        match shown.as_slice() {
            [] => "; there are no configs".to_owned(),
            _ => format!("; configs are {}{more}", shown.join(", ")),
        }
    });
    format!("unknown base_config{hint}")
}
