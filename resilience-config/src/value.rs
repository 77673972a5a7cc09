use std::collections::{BTreeMap, HashMap, HashSet};

use resilience_settings::{Addresses, Type, Value};

use crate::{
    java,
    property::{Leaf, Text, one_line, shorten, shown_key},
};

/// What was written for one key within one document, all its properties together.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Raw {
    /// One property that holds it all.
    Leaf(Leaf),
    /// A list given element by element: `errors[0]`, `errors[1]`.
    Indexed(BTreeMap<usize, Text>),
    /// A number per kind.
    Counts(Counts),
    /// A list or numbers of which a part is known only where the program runs.
    PartElsewhere,
}

/// A number per kind, in the order in which they were written.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Counts {
    list: Vec<(String, Text)>,
    kinds: HashSet<String>,
}

impl Counts {
    pub(crate) fn of(kind: String, count: Text) -> Self {
        Self { kinds: HashSet::from([kind.clone()]), list: vec![(kind, count)] }
    }

    /// Adds those of `more`; `false` when one has a kind that is there already.
    pub(crate) fn extend(&mut self, more: Counts) -> bool {
        let new = more.list.iter().all(|(kind, _)| self.kinds.insert(kind.clone()));
        self.list.extend(more.list);
        new
    }
}

/// How names in lists of errors become kinds.
#[derive(Debug, Default)]
pub(crate) struct Kinds {
    aliases: HashMap<String, String>,
}

/// A list that named a class that every error is one of, and was read as all errors.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ReadAsAll(pub(crate) String);

impl Kinds {
    /// `class` is to be read as `kind`; later ones win.
    pub(crate) fn alias(&mut self, class: String, kind: String) {
        self.aliases.insert(class, kind);
    }

    fn resolve(&self, name: &str) -> String {
        let alias = self.aliases.get(name).map(String::as_str);
        alias.or_else(|| java::kind_of(name)).unwrap_or(name).to_owned()
    }

    fn resolve_list(&self, names: &[String]) -> Vec<String> {
        let mut seen = HashSet::with_capacity(names.len());
        let kinds = names.iter().map(|name| self.resolve(name));
        kinds.filter(|kind| seen.insert(kind.clone())).collect()
    }

    /// An empty list is all errors for `record_errors` and `retry_errors`, so a list with
    /// `java.lang.Exception` is the empty one there. Nothing says "ignore everything".
    pub(crate) fn widen(key: &str, value: &mut Value) -> Option<ReadAsAll> {
        let Value::Kinds(kinds) = value else { return None };
        if key == "ignore_errors" {
            return None;
        }
        let name = kinds.iter().find(|kind| java::is_everything(kind))?.clone();
        *kinds = [].into();
        Some(ReadAsAll(name))
    }
}

impl Raw {
    /// What a property holds of a key: all of it, the element of an index or the number of a kind.
    pub(crate) fn of(leaf: &Leaf, index: Option<usize>, kind: Option<&String>) -> Self {
        match (leaf, index, kind) {
            (Leaf::Text(text), Some(index), None) => {
                Raw::Indexed(BTreeMap::from([(index, text.clone())]))
            }
            (Leaf::Text(text), None, Some(kind)) => {
                Raw::Counts(Counts::of(kind.clone(), text.clone()))
            }
            (Leaf::Elsewhere, Some(_), None) | (Leaf::Elsewhere, None, Some(_)) => {
                Raw::PartElsewhere
            }
            (leaf, None, None) => Raw::Leaf(leaf.clone()),
            _ => Raw::Leaf(Leaf::Nested),
        }
    }

    /// Whether it is known, at least in part, only where the program runs.
    pub(crate) fn is_elsewhere(&self) -> bool {
        matches!(self, Raw::Leaf(Leaf::Elsewhere) | Raw::PartElsewhere)
    }

    /// The value as an error shows it.
    pub(crate) fn shown(&self) -> Option<String> {
        match self {
            Raw::Leaf(leaf) => leaf.shown(),
            Raw::PartElsewhere => None,
            Raw::Indexed(items) => Leaf::List(items.values().cloned().collect()).shown(),
            Raw::Counts(counts) => {
                let counts: Vec<String> =
                    counts.list.iter().map(|(kind, n)| format!("{kind}: {}", n.value)).collect();
                Some(shorten(&format!("{{{}}}", counts.join(", "))))
            }
        }
    }

    /// What was written where the value came out of a placeholder.
    fn written(&self) -> Option<&str> {
        match self {
            Raw::Leaf(Leaf::Text(text)) => text.written.as_deref(),
            _ => None,
        }
    }

    /// The checked value.
    ///
    /// # Errors
    ///
    /// What would be allowed instead.
    pub(crate) fn read(&self, ty: &Type, kinds: &Kinds) -> Result<Value, String> {
        let may_be_shown = !matches!(ty, Type::Addresses { .. });
        self.typed(ty, kinds).map_err(|allowed| match self.written().filter(|_| may_be_shown) {
            Some(written) => format!("expected {allowed} (written `{}`)", shown_key(written)),
            None => format!("expected {allowed}"),
        })
    }

    fn typed(&self, ty: &Type, names: &Kinds) -> Result<Value, String> {
        let refuse = || Err(ty.allowed());
        let list = |elements: Vec<&Text>| {
            let listed = elements.into_iter().map(|item| item.value.trim().to_owned());
            let listed: Vec<String> = listed.filter(|name| !name.is_empty()).collect();
            let value = match ty {
                Type::Texts { .. } => Value::Texts(listed.into()),
                Type::Addresses { .. } => Value::Addresses(Addresses::new(listed)),
                _ => Value::Kinds(names.resolve_list(&listed).into()),
            };
            ty.check(value).map_err(|error| error.allowed().to_owned())
        };
        match (ty, self) {
            (Type::Kinds | Type::Texts { .. }, Raw::Leaf(Leaf::Empty)) => list(Vec::new()),
            (
                Type::Kinds | Type::Texts { .. } | Type::Addresses { .. },
                Raw::Leaf(Leaf::List(items)),
            ) => list(items.iter().collect()),
            (Type::Kinds | Type::Texts { .. } | Type::Addresses { .. }, Raw::Indexed(items)) => {
                let highest = items.keys().next_back().copied().unwrap_or(0);
                match (0..highest).find(|index| !items.contains_key(index)) {
                    Some(gap) => Err(format!("an element at every index; [{gap}] is missing")),
                    None => list(items.values().collect()),
                }
            }
            (Type::Counts, Raw::Counts(counts)) => {
                let mut read: Vec<(String, u32)> = Vec::with_capacity(counts.list.len());
                let mut seen = HashSet::with_capacity(counts.list.len());
                for (kind, count) in &counts.list {
                    let kind = names.resolve(kind);
                    if !seen.insert(kind.clone()) {
                        return Err(format!("one number per error kind; `{kind}` has two"));
                    }
                    match count.value.trim().parse() {
                        Ok(n) => read.push((kind, n)),
                        Err(_) => return refuse(),
                    }
                }
                ty.check(Value::Counts(read)).map_err(|error| error.allowed().to_owned())
            }
            (_, Raw::Leaf(Leaf::Text(text))) => {
                // Spring's words for truth values are read as well.
                let value = match (ty, text.value.trim().to_ascii_lowercase().as_str()) {
                    (Type::Bool, "yes" | "on") => "true",
                    (Type::Bool, "no" | "off") => "false",
                    _ => &text.value,
                };
                match ty.parse(value).map_err(|error| one_line(error.allowed()))? {
                    Value::Kinds(listed) => Ok(Value::Kinds(names.resolve_list(&listed).into())),
                    value => Ok(value),
                }
            }
            _ => refuse(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(value: &str) -> Raw {
        Raw::Leaf(Leaf::Text(value.into()))
    }

    fn read_kinds(raw: &Raw) -> Value {
        raw.read(&Type::Kinds, &Kinds::default()).unwrap()
    }

    fn kinds(names: &[&str]) -> Value {
        Value::Kinds(names.iter().map(|&name| name.to_owned()).collect())
    }

    #[test]
    fn a_list_is_read_from_commas_elements_and_indices() {
        let list = Raw::Leaf(Leaf::List(vec!["a".into(), " ".into(), "b".into()]));
        let indexed = Raw::Indexed(BTreeMap::from([(1, "b".into()), (0, "a".into())]));
        for raw in [text("a, b"), list, indexed] {
            assert_eq!(read_kinds(&raw), kinds(&["a", "b"]));
        }
        assert_eq!(read_kinds(&Raw::Leaf(Leaf::Empty)), kinds(&[]));
    }

    #[test]
    fn a_gap_between_indices_is_refused() {
        let raw = Raw::Indexed(BTreeMap::from([(0, "a".into()), (2, "b".into())]));
        assert_eq!(
            raw.read(&Type::Kinds, &Kinds::default()).unwrap_err(),
            "expected an element at every index; [1] is missing"
        );
    }

    #[test]
    fn class_names_become_kinds_once_each() {
        let raw = text(
            "java.io.IOException,java.util.concurrent.TimeoutException,SocketTimeoutException,com.acme.Odd",
        );
        assert_eq!(read_kinds(&raw), kinds(&["io", "timeout", "com.acme.Odd"]));
    }

    #[test]
    fn an_alias_goes_before_a_well_known_class() {
        let mut names = Kinds::default();
        names.alias("java.io.IOException".into(), "disk".into());
        let read = text("java.io.IOException").read(&Type::Kinds, &names).unwrap();
        assert_eq!(read, kinds(&["disk"]));
    }

    #[test]
    fn a_list_of_every_exception_is_the_empty_list_of_all() {
        let mut all = kinds(&["io", "java.lang.Exception"]);
        assert_eq!(
            Kinds::widen("record_errors", &mut all),
            Some(ReadAsAll("java.lang.Exception".into()))
        );
        assert_eq!(all, kinds(&[]));
        let mut ignored = kinds(&["java.lang.Exception"]);
        assert_eq!(Kinds::widen("ignore_errors", &mut ignored), None);
    }

    #[test]
    fn counts_are_one_number_or_one_per_kind() {
        let names = Kinds::default();
        let one = text("5").read(&Type::Counts, &names).unwrap();
        assert_eq!(one, Value::Integer(5));
        let each = Raw::Counts(Counts::of("java.io.IOException".into(), "3".into()));
        let each = each.read(&Type::Counts, &names).unwrap();
        assert_eq!(each, Value::Counts(vec![("io".into(), 3)]));
        let bad = Raw::Counts(Counts::of("io".into(), "0".into()));
        assert!(bad.read(&Type::Counts, &names).is_err());
        let mut twice = Counts::of("java.io.IOException".into(), "3".into());
        assert!(twice.extend(Counts::of("io".into(), "4".into())));
        let twice = Raw::Counts(twice);
        assert_eq!(
            twice.read(&Type::Counts, &names).unwrap_err(),
            "expected one number per error kind; `io` has two"
        );
    }

    #[test]
    fn springs_words_for_truth_are_read() {
        let names = Kinds::default();
        for (word, truth) in [("yes", true), ("On", true), ("no", false), ("OFF", false)] {
            assert_eq!(text(word).read(&Type::Bool, &names), Ok(Value::Bool(truth)));
        }
        assert_eq!(text("5").read(&Type::Bool, &names).unwrap_err(), "expected true or false");
    }

    #[test]
    fn an_error_shows_the_placeholder_behind_the_value() {
        let value = Text { value: "x".into(), written: Some("${N:x}".into()) };
        let raw = Raw::Leaf(Leaf::Text(value));
        assert_eq!(
            raw.read(&Type::Bool, &Kinds::default()).unwrap_err(),
            "expected true or false (written `${N:x}`)"
        );
    }
}
