use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use resilience_settings::{Key, Pattern, Value, canonical, schema};

use crate::{Origin, source::Spot};

/// Everything that was declared, per pattern, with each value's origin.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Tree {
    sections: BTreeMap<Pattern, Section>,
    pub(crate) store: Option<StoreSection>,
}

/// The section `redis`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct StoreSection {
    /// Where it begins.
    pub(crate) spot: Spot,
    pub(crate) values: Values,
}

/// What is declared for one pattern.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Section {
    /// The switch of the whole pattern.
    pub enabled: Option<(bool, Origin)>,
    /// Whether the switch was set in code in the place of one that says the opposite.
    pub(crate) overridden: bool,
    pub(crate) configs: Entries,
    pub(crate) instances: Entries,
    /// Of `retry` only: what retries are taken from.
    pub(crate) budgets: Entries,
}

/// The kinds of entries a section has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Group {
    /// `configs`: bases for instances.
    Configs,
    /// `instances`.
    Instances,
    /// `budgets`, of `retry` only.
    Budgets,
}

impl Group {
    /// The key of the group in a section.
    pub const fn name(self) -> &'static str {
        match self {
            Group::Configs => "configs",
            Group::Instances => "instances",
            Group::Budgets => "budgets",
        }
    }

    /// The keys that its entries have.
    pub const fn keys(self, pattern: Pattern) -> &'static [Key] {
        match self {
            Group::Configs | Group::Instances => pattern.keys(),
            Group::Budgets => schema::RETRY_BUDGET,
        }
    }

    /// The position and definition of one of them, in any spelling.
    pub(crate) fn key(self, pattern: Pattern, text: &str) -> Option<(usize, &'static Key)> {
        Key::find(self.keys(pattern), text)
    }

    /// Whether its entries may be based on others.
    pub(crate) const fn has_bases(self) -> bool {
        !matches!(self, Group::Budgets)
    }
}

/// Entries in the order of their declaration, found without regard to case and separators.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Entries {
    list: Vec<Entry>,
    index: HashMap<String, usize>,
}

/// The own values of one `configs.<name>` or `instances.<name>`.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// The name as it is spelled where it is declared.
    pub name: String,
    /// Where it is declared first.
    pub(crate) spot: Spot,
    /// What it is based on.
    pub base: Option<Base>,
    /// Its own values.
    pub values: Values,
    /// Whether one of them, or its base, is known only where the program runs.
    pub(crate) left_out: bool,
    /// What a config has with its bases; empty until they are settled, and for instances.
    pub(crate) whole: Whole,
}

/// Values by the position of their key in the pattern's table. A long list is inherited by many
/// without being copied.
pub type Values = BTreeMap<usize, Arc<(Value, Origin)>>;

/// The values of a config and its bases.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Whole {
    pub(crate) values: Values,
    /// One of these, or a base, is known only where the program runs.
    pub(crate) left_out: bool,
    /// Its bases lead to `default`. The values of that lie lower, and are not among these.
    pub(crate) over_default: bool,
}

/// The `base_config` of an entry.
#[derive(Debug, Clone, PartialEq)]
pub struct Base {
    /// The name as it is written.
    pub name: String,
    pub(crate) spot: Spot,
}

impl Tree {
    /// What is declared for a pattern.
    pub fn section(&self, pattern: Pattern) -> Option<&Section> {
        self.sections.get(&pattern)
    }

    pub(crate) fn section_mut(&mut self, pattern: Pattern) -> &mut Section {
        self.sections.entry(pattern).or_default()
    }

    /// The patterns that have a section, outermost first.
    pub fn patterns(&self) -> impl Iterator<Item = (Pattern, &Section)> {
        Pattern::ALL.iter().copied().filter_map(|pattern| Some((pattern, self.section(pattern)?)))
    }

    /// The same to be changed, in an order that is always the same.
    pub(crate) fn patterns_mut(&mut self) -> impl Iterator<Item = (Pattern, &mut Section)> {
        self.sections.iter_mut().map(|(pattern, section)| (*pattern, section))
    }
}

impl Section {
    /// The entries of a group.
    pub fn group(&self, group: Group) -> &Entries {
        match group {
            Group::Configs => &self.configs,
            Group::Instances => &self.instances,
            Group::Budgets => &self.budgets,
        }
    }

    pub(crate) fn group_mut(&mut self, group: Group) -> &mut Entries {
        match group {
            Group::Configs => &mut self.configs,
            Group::Instances => &mut self.instances,
            Group::Budgets => &mut self.budgets,
        }
    }
}

impl Entries {
    /// The entry of this name, in any spelling.
    pub fn get(&self, name: &str) -> Option<&Entry> {
        self.position(name).map(|at| self.at(at))
    }

    pub(crate) fn position(&self, name: &str) -> Option<usize> {
        self.index.get(&canonical(name)).copied()
    }

    /// The entry at a [`position`](Entries::position).
    pub(crate) fn at(&self, position: usize) -> &Entry {
        &self.list[position]
    }

    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    /// The entry of this name, declared here if it was not yet.
    pub(crate) fn declare(&mut self, name: &str, spot: impl FnOnce() -> Spot) -> &mut Entry {
        let at = *self.index.entry(canonical(name)).or_insert_with(|| {
            self.list.push(Entry {
                name: name.to_owned(),
                spot: spot(),
                base: None,
                values: Values::new(),
                left_out: false,
                whole: Whole::default(),
            });
            self.list.len() - 1
        });
        &mut self.list[at]
    }

    /// Every entry.
    pub fn iter(&self) -> impl Iterator<Item = &Entry> {
        self.list.iter()
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Entry> {
        self.list.iter_mut()
    }

    /// The names as they are spelled.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.list.iter().map(|entry| entry.name.as_str())
    }
}

/// The path of an entry, such as `retry.instances.payment`.
pub(crate) fn path_of(pattern: Pattern, group: Group, name: &str) -> String {
    format!("{pattern}.{}.{name}", group.name())
}
