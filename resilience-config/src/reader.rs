use std::sync::Arc;

use resilience_settings::{Pattern, Type, Value, check_name, same_name};

use crate::{
    Origin, Problem,
    address::{Address, EntryAddress, KeyAddress, locate, unknown_key, without_effect},
    complaints::Complaints,
    gathered::{Gathered, Owner, Pending, Slot, first_at},
    key_path::split_index,
    legacy::{self, Successor},
    property::{Leaf, Property, Text, shown_key},
    source::{Source, Spot},
    tree::{Base, Group, Tree, path_of},
    value::{Kinds, Raw, ReadAsAll},
};

/// Reads properties into the tree of entries; what is wrong goes to the report and no further.
pub(crate) struct Reader<'a> {
    pub(crate) tree: &'a mut Tree,
    pub(crate) strict: &'a mut bool,
    pub(crate) kinds: &'a Kinds,
    pub(crate) report: &'a mut Complaints,
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

impl Reader<'_> {
    /// Reads the properties of one document; those of later documents win over earlier ones.
    pub(crate) fn read(&mut self, source: &Source, properties: &[Property]) {
        let mut gathered = Gathered::default();
        for property in properties {
            match locate(property.path.segments(), &property.leaf) {
                Ok(address) => self.take(source, property, address, &mut gathered),
                Err(astray) => {
                    if gathered.reported.insert(astray.path.clone()) {
                        let mut problem = Problem::new(astray.message(&self.report.hints));
                        if !astray.path.is_empty() {
                            problem = problem.path(shown_key(&astray.path));
                        }
                        self.report.problem(source, astray.line.or(property.line), problem);
                    }
                }
            }
        }
        for pending in gathered.settled() {
            match &pending.owner {
                Owner::Entry(entry) => self.store(source, pending, entry),
                Owner::Store => self.take_store_key(source, pending),
            }
        }
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
                    Leaf::Elsewhere => return,
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
            Address::Store(address) => {
                self.gather_store_key(source, property, &address, gathered);
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
        if let Some(first) = gathered.switches.insert(path.to_owned(), property.line) {
            let problem = Problem::new(format!("given twice{}", first_at(first))).path(path);
            self.report.problem(source, property.line, problem);
            return None;
        }
        if property.leaf == Leaf::Elsewhere {
            return None;
        }
        let raw = Raw::Leaf(property.leaf.clone());
        match raw.read(&Type::Bool, self.kinds) {
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
        let (line, pattern, group) = (*line, entry.pattern, entry.group);
        let (key, index) = split_index(&address.key);
        if group.has_bases() && same_name(key, "baseconfig") {
            self.add(source, property, address, gathered, (key, index, Slot::Base));
            return;
        }
        if let Some((slot, _)) = group.key(pattern, key) {
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
        // What older versions had, they had for instances.
        match legacy::successor(pattern, key).filter(|_| group.has_bases()) {
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
                        gathered.imply(Pending {
                            owner: Owner::Entry(entry.clone()),
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
                    let message = unknown_key((pattern, group), key, &self.report.hints);
                    let problem = Problem::new(message).path(path);
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
        let raw = Raw::of(&property.leaf, index, address.below.as_ref());
        let pending = Pending {
            owner: Owner::Entry(address.entry.clone()),
            slot,
            written: key.to_owned(),
            line: address.line,
            raw,
            implied: false,
        };
        if let Err(message) = gathered.add(pending) {
            let path = format!("{}.{key}", entry_path(&address.entry));
            let problem = with_value(Problem::new(message).path(path), property.leaf.shown());
            self.report.problem(source, address.line, problem);
        }
    }

    /// Checks a gathered key and puts it into its entry.
    fn store(&mut self, source: &Source, pending: &Pending, address: &EntryAddress) {
        let EntryAddress { pattern, group, name, .. } = address;
        let entry_path = entry_path(address);
        let line = pending.line;
        let entries = self.tree.section_mut(*pattern).group_mut(*group);
        let entry = entries.declare(name, || source.spot(address.line));
        if pending.raw.is_elsewhere() {
            entry.left_out = true;
            return;
        }
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
        let key = &group.keys(*pattern)[slot];
        let path = format!("{entry_path}.{}", key.name);
        match pending.raw.read(&key.ty, self.kinds) {
            Ok(mut value) => {
                if let Some(all) = Kinds::widen(key.name, &mut value) {
                    self.report.warn(read_as_all(&source.place(line), &path, &all));
                }
                entry.values.insert(slot, Arc::new((value, source.origin(line, &entry_path))));
            }
            // The key that it came with has the same value, and says so.
            Err(_) if pending.implied => {}
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
        slot: Slot,
        text: &str,
        variable: &str,
    ) {
        let entries = self.tree.section_mut(pattern).group_mut(group);
        let place = Spot::environment(variable);
        let entry = entries.declare(name, || place.clone());
        let slot = match slot {
            Slot::Base => {
                entry.base = Some(Base { name: text.trim().to_owned(), spot: place });
                return;
            }
            Slot::Key(slot) => slot,
        };
        let raw = Raw::Leaf(Leaf::Text(text.into()));
        let key = &group.keys(pattern)[slot];
        let path = format!("{}.{}", path_of(pattern, group, name), key.name);
        match raw.read(&key.ty, self.kinds) {
            Ok(mut value) => {
                if let Some(all) = Kinds::widen(key.name, &mut value) {
                    self.report.warn(read_as_all(&place.place, &path, &all));
                }
                let origin = Origin::Environment(variable.to_owned());
                entry.values.insert(slot, Arc::new((value, origin)));
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

fn entry_path(entry: &EntryAddress) -> String {
    path_of(entry.pattern, entry.group, &entry.name)
}

pub(crate) fn with_value(problem: Problem, value: Option<String>) -> Problem {
    match value {
        Some(value) => problem.value(value),
        None => problem,
    }
}
