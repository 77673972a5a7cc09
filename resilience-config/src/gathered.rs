use std::collections::{HashMap, HashSet, hash_map};

use resilience_settings::{Pattern, canonical};

use crate::{address::EntryAddress, tree::Group, value::Raw};

/// Which slot of an entry a key fills.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Slot {
    Base,
    Key(usize),
}

/// Whose key it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Owner {
    Entry(EntryAddress),
    /// The section `redis`.
    Store,
}

/// A key within one document, gathered until the document ends.
pub(crate) struct Pending {
    pub(crate) owner: Owner,
    pub(crate) slot: Slot,
    /// The key as it was first written in this document, and where.
    pub(crate) written: String,
    pub(crate) line: Option<usize>,
    pub(crate) raw: Raw,
    /// It came with an older key that meant several; an explicit one goes before it.
    pub(crate) implied: bool,
}

type Place = (Option<(Pattern, Group, String)>, Slot);

/// What one document says, key by key.
#[derive(Default)]
pub(crate) struct Gathered {
    pending: Vec<Pending>,
    index: HashMap<Place, usize>,
    /// Paths about which something was said already: a misspelt section has many properties.
    pub(crate) reported: HashSet<String>,
    /// Switches that belong to no entry, with the line of the first of each.
    pub(crate) switches: HashMap<String, Option<usize>>,
}

impl Gathered {
    /// Adds a key, or a part of one that has several.
    ///
    /// # Errors
    ///
    /// The message when the key was given already, in this or another spelling.
    pub(crate) fn add(&mut self, pending: Pending) -> Result<(), String> {
        match self.index.entry(pending.place()) {
            hash_map::Entry::Vacant(vacant) => {
                vacant.insert(self.pending.len());
                self.pending.push(pending);
                Ok(())
            }
            hash_map::Entry::Occupied(first) => {
                self.pending[*first.get()].join(&pending.written, pending.raw)
            }
        }
    }

    /// Adds a key that nobody wrote: an older one stands for it as well.
    pub(crate) fn imply(&mut self, pending: Pending) {
        self.pending.push(pending);
    }

    /// The keys of the document, in its order.
    pub(crate) fn settled(&self) -> impl Iterator<Item = &Pending> {
        let explicit = |pending: &Pending| self.index.contains_key(&pending.place());
        self.pending.iter().filter(move |pending| !pending.implied || !explicit(pending))
    }
}

impl Pending {
    fn place(&self) -> Place {
        let owner = match &self.owner {
            Owner::Entry(EntryAddress { pattern, group, name, .. }) => {
                Some((*pattern, *group, canonical(name)))
            }
            Owner::Store => None,
        };
        (owner, self.slot)
    }

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
                if counts.extend(more) {
                    Ok(())
                } else {
                    Err(twice)
                }
            }
            (Raw::PartElsewhere, Raw::Indexed(_) | Raw::Counts(_) | Raw::PartElsewhere) => Ok(()),
            (parts @ (Raw::Indexed(_) | Raw::Counts(_)), Raw::PartElsewhere) => {
                *parts = Raw::PartElsewhere;
                Ok(())
            }
            _ => Err(twice),
        }
    }
}

/// ` (first in line 3)`, where lines are known.
pub(crate) fn first_at(line: Option<usize>) -> String {
    line.map(|line| format!(" (first in line {line})")).unwrap_or_default()
}
