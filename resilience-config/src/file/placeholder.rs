//! Spring's `${name:default}`.

use std::{
    cell::{Cell, RefCell},
    collections::HashMap,
    sync::Arc,
};

use resilience_settings::canonical;

use super::node::{MAX_BYTES, MAX_DEPTH};
use crate::{environment::Variable, key_path::KeyPath, property::shown_key};

/// How many placeholders are replaced in one load, nested ones included, and how many bytes go into
/// it and come of it: without a bound a few lines that name each other twice would fill the memory.
const MAX_REPLACED: usize = 100_000;
const MAX_REPLACED_BYTES: usize = MAX_BYTES;

/// Why a text cannot be had.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Unresolved {
    /// A placeholder has no value here and no default.
    Unset(String),
    /// It can be had nowhere: a circle, or more than the limits let through.
    Wrong(String),
}

impl Unresolved {
    pub(super) fn message(self) -> String {
        match self {
            Unresolved::Unset(message) | Unresolved::Wrong(message) => message,
        }
    }
}

/// Where placeholders find their values: the environment, then the properties of the files.
#[derive(Debug)]
pub(super) struct Placeholders<'a> {
    variables: HashMap<&'a str, &'a Variable>,
    properties: HashMap<String, Arc<str>>,
    /// What came of properties: however often one is named, the work is done once. All are defined
    /// before the first is asked for.
    expanded: RefCell<HashMap<String, Arc<str>>>,
    replaced: Cell<usize>,
    replaced_bytes: Cell<usize>,
}

impl<'a> Placeholders<'a> {
    pub(super) fn new(variables: &'a [Variable]) -> Self {
        let variables = variables.iter().map(|variable| (variable.name.as_str(), variable));
        Self {
            variables: variables.collect(),
            properties: HashMap::new(),
            expanded: RefCell::default(),
            replaced: Cell::new(0),
            replaced_bytes: Cell::new(0),
        }
    }

    /// Makes a property known; later ones win.
    pub(super) fn define(&mut self, path: &KeyPath, value: Arc<str>) {
        self.properties.insert(folded(path), value);
    }

    /// The text with every placeholder replaced, or `None` when it has none.
    ///
    /// # Errors
    ///
    /// Names the placeholder that has no value, the circle, or the limit.
    pub(super) fn resolve(&self, text: &str) -> Result<Option<String>, Unresolved> {
        if !text.contains("${") {
            return Ok(None);
        }
        self.expand(text, &mut Vec::new(), 0).map(Some)
    }

    fn expand(
        &self,
        text: &str,
        open: &mut Vec<String>,
        depth: usize,
    ) -> Result<String, Unresolved> {
        if depth > MAX_DEPTH {
            let message = format!("placeholders nest deeper than {MAX_DEPTH} levels");
            return Err(Unresolved::Wrong(message));
        }
        // Before the work: once the bytes are used up, every further text is refused at once.
        self.take(text.len())?;
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(start) = rest.find("${") {
            out.push_str(&rest[..start]);
            let Some(length) = closing(&rest[start + 2..]) else {
                // No end: Spring takes it as it stands.
                rest = &rest[start..];
                break;
            };
            let inner = &rest[start + 2..start + 2 + length];
            let value = self.replace(inner, open, depth)?;
            self.take(value.len())?;
            out.push_str(&value);
            rest = &rest[start + length + 3..];
        }
        out.push_str(rest);
        Ok(out)
    }

    fn take(&self, bytes: usize) -> Result<(), Unresolved> {
        self.replaced_bytes.set(self.replaced_bytes.get().saturating_add(bytes));
        if self.replaced_bytes.get() > MAX_REPLACED_BYTES {
            let message = format!("placeholders take more than {MAX_REPLACED_BYTES} bytes");
            return Err(Unresolved::Wrong(message));
        }
        Ok(())
    }

    /// The value of what stands between `${` and `}`.
    fn replace(
        &self,
        inner: &str,
        open: &mut Vec<String>,
        depth: usize,
    ) -> Result<String, Unresolved> {
        self.replaced.set(self.replaced.get() + 1);
        if self.replaced.get() > MAX_REPLACED {
            let message = format!("more than {MAX_REPLACED} placeholders are replaced");
            return Err(Unresolved::Wrong(message));
        }
        let (name, default) = match separator(inner) {
            Some(at) => (&inner[..at], Some(&inner[at + 1..])),
            None => (inner, None),
        };
        let name = self.expand(name, open, depth + 1)?.trim().to_owned();
        if let Some(variable) = self.variable(&name) {
            let value = variable.text();
            return value.map(str::to_owned).map_err(|problem| {
                let name = shown_key(&variable.name);
                Unresolved::Wrong(format!("environment {name}: {}", problem.message))
            });
        }
        let folded_name = folded(&KeyPath::of(&name));
        if let Some(value) = self.expanded.borrow().get(&folded_name) {
            return Ok(value.to_string());
        }
        if let Some(value) = self.properties.get(&folded_name) {
            if open.contains(&folded_name) {
                let name = shown_key(&name);
                let message = format!("the placeholder ${{{name}}} leads back to itself");
                return Err(Unresolved::Wrong(message));
            }
            open.push(folded_name.clone());
            let value = self.expand(value, open, depth + 1)?;
            open.pop();
            self.expanded.borrow_mut().insert(folded_name, value.as_str().into());
            return Ok(value);
        }
        if let Some(default) = default {
            return self.expand(default, open, depth + 1);
        }
        let missing = if self.variables.is_empty() {
            "is not set in the file and has no default; the environment is not read"
        } else {
            "is set neither in the environment nor in the file and has no default"
        };
        Err(Unresolved::Unset(format!("the placeholder ${{{}}} {missing}", shown_key(&name))))
    }

    /// A variable of exactly this name, or of the one that Spring makes of a property's name.
    fn variable(&self, name: &str) -> Option<&Variable> {
        let upper = name.to_uppercase().replace('.', "_");
        [name, &upper.replace('-', ""), &upper.replace('-', "_")]
            .into_iter()
            .find_map(|name| self.variables.get(name).copied())
    }
}

/// The form in which property names are compared.
pub(super) fn folded(path: &KeyPath) -> String {
    let segments: Vec<String> =
        path.segments().iter().map(|segment| canonical(&segment.text)).collect();
    segments.join(".")
}

/// The length up to the `}` that closes the placeholder which `text` is inside of.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    let bytes = text.as_bytes();
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            b'{' if at > 0 && bytes[at - 1] == b'$' => depth += 1,
            b'}' if depth == 0 => return Some(at),
            b'}' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// Where the default begins: the first `:` that is not inside another placeholder.
fn separator(inner: &str) -> Option<usize> {
    let mut depth = 0_usize;
    let bytes = inner.as_bytes();
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            b'{' if at > 0 && bytes[at - 1] == b'$' => depth += 1,
            b'}' => depth = depth.saturating_sub(1),
            b':' if depth == 0 => return Some(at),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolve(text: &str) -> Result<String, String> {
        let variables = [("WAIT", "2s"), ("APP_NAME", "shop"), ("RAW", "${WAIT}")];
        let variables = variables
            .map(|(name, value)| Variable { name: name.to_owned(), value: Some(value.to_owned()) });
        let mut placeholders = Placeholders::new(&variables);
        for (name, value) in [
            ("app.timeout", "5s"),
            ("app.name", "file"),
            ("app.again", "${app.timeout}"),
            ("loop.a", "${loop.b}"),
            ("loop.b", "x${loop.a}"),
            ("key", "timeout"),
        ] {
            placeholders.define(&KeyPath::of(name), value.into());
        }
        let resolved = placeholders.resolve(text).map_err(Unresolved::message)?;
        Ok(resolved.unwrap_or_else(|| text.to_owned()))
    }

    #[test]
    fn placeholders_are_replaced() {
        for (text, expected) in [
            ("plain", "plain"),
            ("${WAIT}", "2s"),
            ("a${WAIT}b${WAIT}", "a2sb2s"),
            ("${NONE:3}", "3"),
            ("${NONE:}", ""),
            ("${NONE:http://x:1}", "http://x:1"),
            ("${NONE:${WAIT}}", "2s"),
            ("${NONE:${ALSO:7}}", "7"),
            ("${app.timeout}", "5s"),
            ("${app.again}", "5s"),
            ("${app.${key}}", "5s"),
            ("${app.name}", "shop"),
            ("${RAW}", "${WAIT}"),
            ("${open", "${open"),
            ("$WAIT {x}", "$WAIT {x}"),
        ] {
            assert_eq!(resolve(text).unwrap(), expected, "{text}");
        }
    }

    #[test]
    fn an_unset_placeholder_is_an_error() {
        assert_eq!(
            resolve("${NONE}").unwrap_err(),
            "the placeholder ${NONE} is set neither in the environment nor in the file and has no \
             default"
        );
    }

    #[test]
    fn an_environment_that_is_not_read_is_not_said_to_lack_anything() {
        assert_eq!(
            Placeholders::new(&[]).resolve("${NONE}").map_err(Unresolved::message).unwrap_err(),
            "the placeholder ${NONE} is not set in the file and has no default; the environment is \
             not read"
        );
    }

    #[test]
    fn a_circle_is_an_error() {
        assert_eq!(
            resolve("${loop.a}").unwrap_err(),
            "the placeholder ${loop.a} leads back to itself"
        );
    }

    /// Properties that each name the next one twice, down to the last.
    fn doubling(last: &str) -> Placeholders<'static> {
        let mut placeholders = Placeholders::new(&[]);
        for level in 0..40 {
            let value = format!("${{p{}}}${{p{}}}", level + 1, level + 1);
            placeholders.define(&KeyPath::of(&format!("p{level}")), value.into());
        }
        placeholders.define(&KeyPath::of("p40"), last.into());
        placeholders
    }

    #[test]
    fn a_property_is_expanded_once_however_often_it_is_named() {
        let placeholders = doubling("");
        assert_eq!(placeholders.resolve("${p0}"), Ok(Some(String::new())));
        assert_eq!(placeholders.replaced.get(), 81, "two for each level and the first");
    }

    #[test]
    fn a_value_that_explodes_is_stopped() {
        let placeholders = doubling("x");
        let error = placeholders.resolve("${p0}").unwrap_err();
        assert_eq!(error.message(), "placeholders take more than 1048576 bytes");
        assert!(placeholders.replaced.get() < 100);
    }

    #[test]
    fn more_placeholders_than_anybody_writes_are_refused() {
        let error = resolve(&"${:}".repeat(100_001)).unwrap_err();
        assert_eq!(error, "more than 100000 placeholders are replaced");
    }
}
