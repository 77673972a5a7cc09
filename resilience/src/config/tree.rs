use std::collections::{BTreeMap, HashMap};

use resilience_settings::{Pattern, Value, canonical};

use super::{Origin, source::Spot};

/// Everything that was declared, per pattern, with each value's origin.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tree {
    sections: HashMap<Pattern, Section>,
}

/// What is declared for one pattern.
#[derive(Debug, Clone, Default)]
pub(crate) struct Section {
    /// The switch of the whole pattern.
    pub(crate) enabled: Option<(bool, Origin)>,
    pub(crate) configs: Entries,
    pub(crate) instances: Entries,
}

/// The two kinds of entries a section has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Group {
    Configs,
    Instances,
}

impl Group {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Group::Configs => "configs",
            Group::Instances => "instances",
        }
    }
}

/// Entries in the order of their declaration, found without regard to case and separators.
#[derive(Debug, Clone, Default)]
pub(crate) struct Entries {
    list: Vec<Entry>,
    index: HashMap<String, usize>,
}

/// The own values of one `configs.<name>` or `instances.<name>`.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    /// The name as it is spelled where it is declared.
    pub(crate) name: String,
    /// Where it is declared first.
    pub(crate) spot: Spot,
    pub(crate) base: Option<Base>,
    /// By the position of the key in the pattern's table.
    pub(crate) values: BTreeMap<usize, (Value, Origin)>,
}

/// The `base_config` of an entry.
#[derive(Debug, Clone)]
pub(crate) struct Base {
    pub(crate) name: String,
    pub(crate) spot: Spot,
}

impl Tree {
    pub(crate) fn section(&self, pattern: Pattern) -> Option<&Section> {
        self.sections.get(&pattern)
    }

    pub(crate) fn section_mut(&mut self, pattern: Pattern) -> &mut Section {
        self.sections.entry(pattern).or_default()
    }

    /// The patterns that have a section, outermost first.
    pub(crate) fn patterns(&self) -> impl Iterator<Item = (Pattern, &Section)> {
        Pattern::ALL.into_iter().filter_map(|pattern| Some((pattern, self.section(pattern)?)))
    }
}

impl Section {
    pub(crate) fn group(&self, group: Group) -> &Entries {
        match group {
            Group::Configs => &self.configs,
            Group::Instances => &self.instances,
        }
    }

    pub(crate) fn group_mut(&mut self, group: Group) -> &mut Entries {
        match group {
            Group::Configs => &mut self.configs,
            Group::Instances => &mut self.instances,
        }
    }
}

impl Entries {
    pub(crate) fn get(&self, name: &str) -> Option<&Entry> {
        self.index.get(&canonical(name)).map(|&at| &self.list[at])
    }

    /// The entry of this name, declared here if it was not yet.
    pub(crate) fn declare(&mut self, name: &str, spot: impl FnOnce() -> Spot) -> &mut Entry {
        let at = *self.index.entry(canonical(name)).or_insert_with(|| {
            self.list.push(Entry {
                name: name.to_owned(),
                spot: spot(),
                base: None,
                values: BTreeMap::new(),
            });
            self.list.len() - 1
        });
        &mut self.list[at]
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Entry> {
        self.list.iter()
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.list.iter().map(|entry| entry.name.as_str())
    }
}

/// The path of an entry, such as `retry.instances.payment`.
pub(crate) fn path_of(pattern: Pattern, group: Group, name: &str) -> String {
    format!("{pattern}.{}.{name}", group.name())
}
