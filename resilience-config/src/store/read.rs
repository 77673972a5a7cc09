use std::sync::Arc;

use resilience_settings::{Key, schema};

use crate::{
    Origin, Problem,
    address::{STORE, StoreAddress, unknown_among},
    gathered::{Gathered, Owner, Pending, Slot},
    key_path::split_index,
    property::{Leaf, Property, shown_key},
    reader::{Reader, with_value},
    source::{Source, Spot},
    tree::{StoreSection, Values},
    value::Raw,
};

/// Of what is wrong here no value is shown but those of known keys that hold no secret: somebody may have
/// written a password at the wrong place.
impl Reader<'_> {
    /// Puts a property to the key of the section that it belongs to.
    pub(crate) fn gather_store_key(
        &mut self,
        source: &Source,
        property: &Property,
        address: &StoreAddress,
        gathered: &mut Gathered,
    ) {
        let (key, index) = split_index(&address.key);
        let line = address.line.or(property.line);
        self.store_section(|| source.spot(line));
        let Some((slot, _)) = Key::find(schema::REDIS, key) else {
            let path = format!("{STORE}.{}", shown_key(key));
            if gathered.reported.insert(path.clone()) {
                let message = unknown_among(schema::REDIS, None, key, &self.report.hints);
                self.report.problem(source, line, Problem::new(message).path(path));
            }
            return;
        };
        let pending = Pending {
            owner: Owner::Store,
            slot: Slot::Key(slot),
            written: key.to_owned(),
            line,
            raw: Raw::of(&property.leaf, index, address.below.as_ref()),
            implied: false,
        };
        if let Err(message) = gathered.add(pending) {
            let problem = Problem::new(message).path(format!("{STORE}.{key}"));
            self.report.problem(source, line, problem);
        }
    }

    /// Checks a gathered key and puts it into the section.
    pub(crate) fn take_store_key(&mut self, source: &Source, pending: &Pending) {
        let Slot::Key(slot) = pending.slot else { return };
        if pending.raw.is_elsewhere() {
            return;
        }
        let line = pending.line;
        self.put_store_key(slot, &pending.raw, source.origin(line, STORE), &source.spot(line));
    }

    /// Puts a variable's value into the section, which it declares where nobody did.
    pub(crate) fn overrule_store_key(&mut self, slot: usize, text: &str, variable: &str) {
        let place = Spot::environment(variable);
        self.store_section(|| place.clone());
        let raw = Raw::Leaf(Leaf::Text(text.into()));
        self.put_store_key(slot, &raw, Origin::Environment(variable.to_owned()), &place);
    }

    fn put_store_key(&mut self, slot: usize, raw: &Raw, origin: Origin, place: &Spot) {
        let key = &schema::REDIS[slot];
        match raw.read(&key.ty, self.kinds) {
            Ok(value) => {
                let section = self.store_section(|| place.clone());
                section.values.insert(slot, Arc::new((value, origin)));
            }
            Err(message) => {
                let shown = raw.shown().filter(|_| !key.is_secret());
                let problem = Problem::new(message).path(format!("{STORE}.{}", key.name));
                self.report.problem_at(place, with_value(problem, shown));
            }
        }
    }

    fn store_section(&mut self, spot: impl FnOnce() -> Spot) -> &mut StoreSection {
        let new = || StoreSection { spot: spot(), values: Values::new() };
        self.tree.store.get_or_insert_with(new)
    }
}
