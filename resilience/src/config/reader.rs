use std::collections::{BTreeMap, HashMap, HashSet, hash_map};

use resilience_settings::{Pattern, Value, canonical, check_name};

use super::{
    Origin, Problem,
    address::{Address, EntryAddress, KeyAddress, locate, unknown_key, without_effect},
    hint::did_you_mean,
    key_path::split_index,
    legacy::{self, Successor},
    property::{Leaf, Property, Text, shown_key},
    report::Report,
    source::{Source, Spot},
    tree::{Base, Entry, Group, Section, Tree},
    value::{Kinds, Raw, ReadAsAll},
};

/// Reads properties into the tree of entries; what is wrong goes to the report and no further.
pub(crate) struct Reader<'a> {
    pub(crate) tree: &'a mut Tree,
    pub(crate) strict: &'a mut bool,
    pub(crate) kinds: &'a Kinds,
    pub(crate) report: &'a mut Report,
}

/// Takes the aliases of error kinds out of properties; they must be known before any list is read.
pub(crate) fn read_aliases(properties: &[Property], kinds: &mut Kinds) {
    for property in properties {
        if let (Ok(Address::Alias(class)), Leaf::Text(text)) =
            (locate(property.path.segments(), &property.leaf), &property.leaf)
        {
            kinds.alias(class, text.value.trim().to_owned());
        }
    }
}

/// Which slot of an entry a key fills.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Slot {
    Base,
    Key(usize),
}

/// A key within one document, gathered until the document ends.
struct Pending {
    entry: EntryAddress,
    slot: Slot,
    /// The key as it was first written in this document, and where.
    written: String,
    line: Option<usize>,
    raw: Raw,
    /// It came with an older key that meant several; an explicit one goes before it.
    implied: bool,
}

type Place = (Pattern, Group, String, Slot);

#[derive(Default)]
struct Gathered {
    pending: Vec<Pending>,
    index: HashMap<Place, usize>,
    /// Paths about which something was said already: a misspelt section has many properties.
    reported: HashSet<String>,
    /// Names that are no names, reported once each.
    singles: HashMap<String, Option<usize>>,
}

impl Reader<'_> {
    /// Reads the properties of one document; those of later documents win over earlier ones.
    pub(crate) fn read(&mut self, source: &Source, properties: &[Property]) {
        let mut gathered = Gathered::default();
        for property in properties {
            match locate(property.path.segments(), &property.leaf) {
                Ok(address) => self.take(source, property, address, &mut gathered),
                Err(astray) => {
                    if gathered.reported.insert(astray.path.clone()) {
                        let mut problem = Problem::new(astray.message);
                        if !astray.path.is_empty() {
                            problem = problem.path(shown_key(&astray.path));
                        }
                        self.report.problem(source, astray.line.or(property.line), problem);
                    }
                }
            }
        }
        for pending in &gathered.pending {
            if !pending.implied || !Self::is_overridden(pending, &gathered) {
                self.store(source, pending);
            }
        }
    }

    fn is_overridden(implied: &Pending, gathered: &Gathered) -> bool {
        let EntryAddress { pattern, group, name, .. } = &implied.entry;
        gathered.index.contains_key(&(*pattern, *group, canonical(name), implied.slot))
    }

    fn take(
        &mut self,
        source: &Source,
        property: &Property,
        address: Address,
        gathered: &mut Gathered,
    ) {
        let line = property.line;
        match address {
            Address::EmptySection => {}
            Address::WithoutEffect(key, reason) => {
                if gathered.reported.insert(key.clone()) {
                    self.report.without_effect(&key, reason, source.place(line));
                }
            }
            Address::Alias(class) => {
                let written = match &property.leaf {
                    Leaf::Text(text) if !text.value.trim().is_empty() => return,
                    leaf => leaf.shown(),
                };
                let problem = Problem::new("expected an error kind");
                let problem = problem.path(format!("error_kind_aliases.{}", shown_key(&class)));
                self.report.problem(source, line, with_value(problem, written));
            }
            Address::Strict => {
                if let Some(strict) = self.switch(source, property, "strict", gathered) {
                    *self.strict = strict;
                }
            }
            Address::PatternEnabled(pattern) => {
                let path = format!("{pattern}.enabled");
                if let Some(enabled) = self.switch(source, property, &path, gathered) {
                    let origin = source.origin(line, pattern.section());
                    self.tree.section_mut(pattern).enabled = Some((enabled, origin));
                }
            }
            Address::Entry(entry) => {
                self.declare(source, &entry, gathered);
            }
            Address::Key(address) => {
                if self.declare(source, &address.entry, gathered) {
                    self.gather(source, property, &address, gathered);
                }
            }
        }
    }

    /// A truth value that belongs to no entry.
    fn switch(
        &mut self,
        source: &Source,
        property: &Property,
        path: &str,
        gathered: &mut Gathered,
    ) -> Option<bool> {
        if let Some(first) = gathered.singles.insert(path.to_owned(), property.line) {
            let problem = Problem::new(format!("given twice{}", first_at(first))).path(path);
            self.report.problem(source, property.line, problem);
            return None;
        }
        let raw = Raw::Leaf(property.leaf.clone());
        match raw.read(&resilience_settings::Type::Bool, self.kinds) {
            Ok(value) => Some(value == Value::Bool(true)),
            Err(message) => {
                let problem = with_value(Problem::new(message).path(path), raw.shown());
                self.report.problem(source, property.line, problem);
                None
            }
        }
    }

    /// Declares an entry; `false` when its name is not allowed.
    fn declare(
        &mut self,
        source: &Source,
        address: &EntryAddress,
        gathered: &mut Gathered,
    ) -> bool {
        let EntryAddress { name, line, .. } = address;
        let path = || shown_key(&entry_path(address));
        if let Err(error) = check_name(name) {
            if gathered.reported.insert(path()) {
                let problem = Problem::new(error.to_string()).path(path());
                self.report.problem(source, *line, problem);
            }
            return false;
        }
        let entries = self.tree.section_mut(address.pattern).group_mut(address.group);
        let entry = entries.declare(name, || source.spot(*line));
        if entry.name != *name && gathered.reported.insert(path()) {
            let message = format!(
                "`{name}` and `{}` ({}) are one name, case and separators do not count; \
                 spell them the same",
                entry.name, entry.spot.place
            );
            self.report.problem(source, *line, Problem::new(message).path(path()));
        }
        true
    }

    /// Puts a property to the key it belongs to.
    fn gather(
        &mut self,
        source: &Source,
        property: &Property,
        address: &KeyAddress,
        gathered: &mut Gathered,
    ) {
        let KeyAddress { entry, line, .. } = address;
        let (line, pattern) = (*line, entry.pattern);
        let (key, index) = split_index(&address.key);
        if canonical(key) == "baseconfig" {
            self.add(source, property, address, gathered, (key, index, Slot::Base));
            return;
        }
        if let Some((slot, _)) = pattern.key(key) {
            self.add(source, property, address, gathered, (key, index, Slot::Key(slot)));
            return;
        }
        let path = format!("{}.{}", entry_path(entry), shown_key(key));
        if let Some((name, reason)) = without_effect(key) {
            if gathered.reported.insert(path) {
                self.report.without_effect(name, reason, source.place(line));
            }
            return;
        }
        match legacy::successor(pattern, key) {
            Some(Successor::Same(names)) => {
                let slots = names.iter().filter_map(|name| Some(pattern.key(name)?.0));
                for (i, slot) in slots.enumerate() {
                    if i == 0 {
                        self.add(
                            source,
                            property,
                            address,
                            gathered,
                            (key, index, Slot::Key(slot)),
                        );
                    } else {
                        gathered.pending.push(Pending {
                            entry: entry.clone(),
                            slot: Slot::Key(slot),
                            written: key.to_owned(),
                            line,
                            raw: Raw::Leaf(property.leaf.clone()),
                            implied: true,
                        });
                    }
                }
                let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
                let read_as = format!("read as {}", names.join(" and "));
                self.report.renamed(key, &read_as, source.place(line));
            }
            Some(Successor::Other(advice)) => {
                let problem = Problem::new(format!("an older version's key; {advice}")).path(path);
                self.report.problem(source, line, with_value(problem, property.leaf.shown()));
            }
            None => {
                if gathered.reported.insert(path.clone()) {
                    let problem = Problem::new(unknown_key(pattern, key)).path(path);
                    self.report.problem(source, line, with_value(problem, property.leaf.shown()));
                }
            }
        }
    }

    fn add(
        &mut self,
        source: &Source,
        property: &Property,
        address: &KeyAddress,
        gathered: &mut Gathered,
        (key, index, slot): (&str, Option<usize>, Slot),
    ) {
        let raw = match (&property.leaf, index, &address.below) {
            (Leaf::Text(text), Some(index), None) => {
                Raw::Indexed(BTreeMap::from([(index, text.clone())]))
            }
            (Leaf::Text(text), None, Some(kind)) => Raw::Counts(vec![(kind.clone(), text.clone())]),
            (leaf, None, None) => Raw::Leaf(leaf.clone()),
            _ => Raw::Leaf(Leaf::Nested),
        };
        let EntryAddress { pattern, group, name, .. } = &address.entry;
        match gathered.index.entry((*pattern, *group, canonical(name), slot)) {
            hash_map::Entry::Vacant(vacant) => {
                vacant.insert(gathered.pending.len());
                gathered.pending.push(Pending {
                    entry: address.entry.clone(),
                    slot,
                    written: key.to_owned(),
                    line: address.line,
                    raw,
                    implied: false,
                });
            }
            hash_map::Entry::Occupied(occupied) => {
                let first = &mut gathered.pending[*occupied.get()];
                if let Err(message) = first.join(key, raw) {
                    let path = entry_path(&address.entry);
                    let problem = Problem::new(message).path(format!("{path}.{key}"));
                    let problem = with_value(problem, property.leaf.shown());
                    self.report.problem(source, property.line, problem);
                }
            }
        }
    }

    /// Checks a gathered key and puts it into its entry.
    fn store(&mut self, source: &Source, pending: &Pending) {
        let EntryAddress { pattern, group, name, .. } = &pending.entry;
        let entry_path = entry_path(&pending.entry);
        let line = pending.line;
        let entries = self.tree.section_mut(*pattern).group_mut(*group);
        let entry = entries.declare(name, || source.spot(pending.entry.line));
        let slot = match pending.slot {
            Slot::Base => {
                match &pending.raw {
                    Raw::Leaf(Leaf::Text(Text { value, .. })) if !value.trim().is_empty() => {
                        let name = value.trim().to_owned();
                        entry.base = Some(Base { name, spot: source.spot(line) });
                    }
                    raw => {
                        let problem = Problem::new("expected the name of an entry under configs")
                            .path(format!("{entry_path}.base_config"));
                        self.report.problem(source, line, with_value(problem, raw.shown()));
                    }
                }
                return;
            }
            Slot::Key(slot) => slot,
        };
        let key = &pattern.keys()[slot];
        let path = format!("{entry_path}.{}", key.name);
        match pending.raw.read(&key.ty, self.kinds) {
            Ok(mut value) => {
                if let Some(all) = Kinds::widen(key.name, &mut value) {
                    self.report.warn(read_as_all(&source.place(line), &path, &all));
                }
                entry.values.insert(slot, (value, source.origin(line, &entry_path)));
            }
            Err(message) => {
                let problem = with_value(Problem::new(message).path(path), pending.raw.shown());
                self.report.problem(source, line, problem);
            }
        }
    }

    /// Puts one value from outside any document, such as the environment's, into its entry.
    pub(crate) fn overrule(
        &mut self,
        (pattern, group, name): (Pattern, Group, &str),
        slot: Option<usize>,
        text: &str,
        variable: &str,
    ) {
        let entries = self.tree.section_mut(pattern).group_mut(group);
        let place = Spot::environment(variable);
        let entry = entries.declare(name, || place.clone());
        let Some(slot) = slot else {
            entry.base = Some(Base { name: text.trim().to_owned(), spot: place });
            return;
        };
        let raw = Raw::Leaf(Leaf::Text(text.into()));
        let key = &pattern.keys()[slot];
        let path = format!("{}.{}", path_of(pattern, group, name), key.name);
        match raw.read(&key.ty, self.kinds) {
            Ok(mut value) => {
                if let Some(all) = Kinds::widen(key.name, &mut value) {
                    self.report.warn(read_as_all(&place.place, &path, &all));
                }
                entry.values.insert(slot, (value, Origin::Environment(variable.to_owned())));
            }
            Err(message) => {
                let problem = with_value(Problem::new(message).path(path), raw.shown());
                self.report.problem_at(&place, problem);
            }
        }
    }
}

fn read_as_all(place: &str, path: &str, all: &ReadAsAll) -> String {
    format!("{place}: {path}: `{}` is every error; read as an empty list, which is all", all.0)
}

impl Pending {
    /// Adds another property of the same key and document, if it is another part of it.
    fn join(&mut self, key: &str, other: Raw) -> Result<(), String> {
        if self.written != key {
            return Err(format!(
                "one key in two spellings, `{}`{} and `{key}`; keep one",
                self.written,
                first_at(self.line)
            ));
        }
        let twice = format!("given twice{}", first_at(self.line));
        match (&mut self.raw, other) {
            (Raw::Indexed(items), Raw::Indexed(more)) => {
                for (index, item) in more {
                    if items.insert(index, item).is_some() {
                        return Err(twice);
                    }
                }
                Ok(())
            }
            (Raw::Counts(counts), Raw::Counts(more)) => {
                for (kind, count) in more {
                    if counts.iter().any(|(known, _)| *known == kind) {
                        return Err(twice);
                    }
                    counts.push((kind, count));
                }
                Ok(())
            }
            _ => Err(twice),
        }
    }
}

fn entry_path(entry: &EntryAddress) -> String {
    path_of(entry.pattern, entry.group, &entry.name)
}

/// The path of an entry, such as `retry.instances.payment`.
pub(crate) fn path_of(pattern: Pattern, group: Group, name: &str) -> String {
    format!("{pattern}.{}.{name}", group.name())
}

fn first_at(line: Option<usize>) -> String {
    line.map(|line| format!(" (first in line {line})")).unwrap_or_default()
}

fn with_value(problem: Problem, value: Option<String>) -> Problem {
    match value {
        Some(value) => problem.value(value),
        None => problem,
    }
}

/// Checks that every `base_config` names an entry and that none leads back to itself.
pub(crate) fn check_bases(tree: &Tree, report: &mut Report) {
    for (pattern, section) in tree.patterns() {
        for group in [Group::Configs, Group::Instances] {
            for entry in section.group(group).iter() {
                let Some(base) = &entry.base else { continue };
                let path = format!("{}.base_config", path_of(pattern, group, &entry.name));
                if let Err(message) = check_base(section, group, entry, base) {
                    let problem = Problem::new(message).path(path).value(&base.name);
                    report.problem_at(&base.spot, problem);
                }
            }
        }
    }
}

fn check_base(section: &Section, group: Group, entry: &Entry, base: &Base) -> Result<(), String> {
    let configs = &section.configs;
    let Some(mut next) = configs.get(&base.name) else {
        // `default` is always there, with or without an entry.
        if canonical(&base.name) == "default" {
            return Ok(());
        }
        return Err(unknown_base(&base.name, configs.names()));
    };
    if group == Group::Instances {
        return Ok(()); // a cycle among its bases is reported there
    }
    let count = configs.names().count();
    let mut chain = vec![entry.name.as_str()];
    loop {
        chain.push(&next.name);
        if std::ptr::eq(next, entry) {
            return Err(match chain.len() {
                2 => "an entry cannot be its own base".to_owned(),
                _ => format!("base_config leads in a circle: {}", chain.join(" -> ")),
            });
        }
        let further = next.base.as_ref().and_then(|base| configs.get(&base.name));
        match further {
            // Beyond the configs' number there is a circle, but `entry` is not in it.
            Some(_) if chain.len() > count + 1 => return Ok(()),
            Some(further) => next = further,
            None => return Ok(()),
        }
    }
}

/// The message for a base that no entry has.
pub(crate) fn unknown_base<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.collect();
    let hint = did_you_mean(name, known.iter().copied()).unwrap_or_else(|| {
        if known.is_empty() {
            "; there are no configs".to_owned()
        } else {
            format!("; configs are {}", known.join(", "))
        }
    });
    format!("unknown base_config{hint}")
}
