use std::collections::HashSet;

use resilience_settings::{Pattern, same_name};

use crate::{
    Loaded, Problem,
    complaints::Complaints,
    hint::Hints,
    property::shorten,
    tree::{Base, Entries, Entry, Group, Tree, Whole, path_of},
};

/// The config that lies below every other, declared or not.
const DEFAULT: &str = "default";

/// How many configs may build on each other: people write two or three, and every level makes the
/// origin of a value harder to find.
const MAX_CHAIN: usize = 64;

/// Checks that every `base_config` names an entry and leads to an end, and puts every config
/// together with its bases.
pub(crate) fn settle_bases(tree: &mut Tree, report: &mut Complaints) {
    for (pattern, section) in tree.patterns_mut() {
        for group in [Group::Configs, Group::Instances] {
            for entry in section.group(group).iter() {
                if let Some(base) = &entry.base
                    && !is_known(&section.configs, &base.name)
                {
                    let message = unknown_base(&base.name, &[&section.configs], &report.hints);
                    refuse(pattern, group, (entry, base), message, report);
                }
            }
        }
        let mut settler = Settler::new(&section.configs);
        (0..section.configs.len()).for_each(|at| settler.settle(at));
        for (entry, message) in settler.problems {
            if let Some(base) = &entry.base {
                refuse(pattern, Group::Configs, (entry, base), message, report);
            }
        }
        let wholes: Vec<Option<Settled>> = settler.settled;
        for (entry, settled) in section.configs.iter_mut().zip(wholes) {
            entry.whole = settled.map(|settled| settled.whole).unwrap_or_default();
        }
    }
}

fn refuse(
    pattern: Pattern,
    group: Group,
    (entry, base): (&Entry, &Base),
    message: String,
    report: &mut Complaints,
) {
    let path = format!("{}.base_config", path_of(pattern, group, &entry.name));
    let problem = Problem::new(message).path(path).value(shorten(&base.name));
    report.problem_at(&base.spot, problem);
}

impl Loaded {
    /// What to say of a base that is none of the pattern's configs in any profile that was looked at;
    /// `None` when it is one.
    pub fn unknown_base(&self, pattern: Pattern, base: &str) -> Option<String> {
        let trees = [self.tree(), self.other_profiles()].into_iter();
        let configs: Vec<&Entries> =
            trees.filter_map(|tree| Some(&tree.section(pattern)?.configs)).collect();
        let known = is_default(base) || configs.iter().any(|configs| is_known(configs, base));
        (!known).then(|| unknown_base(base, &configs, &Hints::default()))
    }
}

pub(crate) fn is_default(name: &str) -> bool {
    same_name(name, DEFAULT)
}

/// The config below every other, where it is declared.
pub(crate) fn default_of(configs: &Entries) -> Option<&Entry> {
    configs.get(DEFAULT)
}

/// Whether a base of this name is there.
pub(crate) fn is_known(configs: &Entries, name: &str) -> bool {
    configs.get(name).is_some() || is_default(name)
}

/// Puts configs together with their bases, each once however many build on it.
struct Settler<'a> {
    configs: &'a Entries,
    /// By the position of the config.
    settled: Vec<Option<Settled>>,
    problems: Vec<(&'a Entry, String)>,
}

#[derive(Clone)]
struct Settled {
    whole: Whole,
    /// The number of configs in the chain, this one included.
    length: usize,
}

impl<'a> Settler<'a> {
    fn new(configs: &'a Entries) -> Self {
        Self { configs, settled: vec![None; configs.len()], problems: Vec::new() }
    }

    fn settle(&mut self, start: usize) {
        // Down to a config that is settled or has no base, then up again.
        let mut way = Vec::new();
        let mut seen = HashSet::new();
        let mut next = Some(start);
        while let Some(at) = next
            && self.settled[at].is_none()
        {
            if !seen.insert(at) {
                self.refuse_circle(&way, at);
                break;
            }
            way.push(at);
            next = self.base(at);
        }
        for at in way.into_iter().rev() {
            let settled = self.on_its_base(at);
            // Those above it are too long for the same reason.
            if settled.length == MAX_CHAIN + 1 {
                let message = format!("a chain of more than {MAX_CHAIN} bases; shorten it");
                self.problems.push((self.configs.at(at), message));
            }
            self.settled[at] = Some(settled);
        }
    }

    fn base(&self, at: usize) -> Option<usize> {
        self.configs.position(&self.configs.at(at).base.as_ref()?.name)
    }

    fn on_its_base(&self, at: usize) -> Settled {
        let entry = self.configs.at(at);
        // In a circle, which is refused, the base that closes it is not settled yet.
        let base = self.base(at).and_then(|base| Some((base, self.settled[base].as_ref()?)));
        let mut whole = match base {
            None => Whole::default(),
            Some((base, _)) if is_default(&self.configs.at(base).name) => {
                Whole { over_default: true, ..Whole::default() }
            }
            Some((_, below)) => below.whole.clone(),
        };
        whole.values.extend(entry.values.clone());
        whole.left_out |= entry.left_out;
        Settled { whole, length: 1 + base.map_or(0, |(_, below)| below.length) }
    }

    /// A circle is one mistake, however many configs are in it: the first declared one's.
    fn refuse_circle(&mut self, way: &[usize], met: usize) {
        let mut circle: Vec<usize> = way.iter().copied().skip_while(|at| *at != met).collect();
        let first = (0..circle.len()).min_by_key(|i| circle[*i]).unwrap_or(0);
        circle.rotate_left(first);
        let entry = self.configs.at(circle[0]);
        let names = circle.iter().chain(&circle[..1]).map(|at| self.configs.at(*at).name.as_str());
        self.problems.push((entry, lead_in_circle(&names.collect::<Vec<_>>())));
    }
}

fn lead_in_circle(names: &[&str]) -> String {
    const SHOWN: usize = 20;
    match names {
        [_, _] => "an entry cannot be its own base".to_owned(),
        [shown @ .., last] if shown.len() > SHOWN => {
            let shown = shown[..SHOWN].join(" -> ");
            format!("base_config leads in a circle: {shown} -> … -> {last}")
        }
        _ => format!("base_config leads in a circle: {}", names.join(" -> ")),
    }
}

/// The message for a base that no entry has.
pub(crate) fn unknown_base(name: &str, configs: &[&Entries], hints: &Hints) -> String {
    const SHOWN: usize = 20;
    let names = || configs.iter().flat_map(|configs| configs.names());
    let hint = hints.did_you_mean(name, names()).unwrap_or_else(|| {
        let shown: Vec<&str> = names().take(SHOWN).collect();
        let more = if names().nth(SHOWN).is_some() { ", …" } else { "" };
        match shown.as_slice() {
            [] => "; there are no configs".to_owned(),
            _ => format!("; configs are {}{more}", shown.join(", ")),
        }
    });
    format!("unknown base_config{hint}")
}
