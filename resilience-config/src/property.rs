use std::sync::Arc;

use crate::key_path::KeyPath;

/// One leaf of a source: the keys that lead to it and what stands there.
#[derive(Debug, Clone)]
pub(crate) struct Property {
    pub(crate) path: KeyPath,
    /// The line of the key, counted from 1.
    pub(crate) line: Option<usize>,
    pub(crate) leaf: Leaf,
}

/// What stands at the end of a path, still as text.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Leaf {
    /// Nothing, or a section without content: `payment:`, `payment: {}`.
    Empty,
    Text(Text),
    List(Vec<Text>),
    /// A list with sections or lists in it, which no key of ours takes.
    Nested,
    /// A value that is known only where the program runs: a placeholder in it has none here.
    Elsewhere,
}

/// A scalar as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Text {
    pub(crate) value: Arc<str>,
    /// What was written, where the value came out of placeholders.
    pub(crate) written: Option<Arc<str>>,
}

impl From<&str> for Text {
    fn from(value: &str) -> Self {
        Self { value: value.into(), written: None }
    }
}

impl Leaf {
    /// The value as an error shows it; `None` when there is nothing to show.
    pub(crate) fn shown(&self) -> Option<String> {
        match self {
            Leaf::Empty | Leaf::Nested | Leaf::Elsewhere => None,
            Leaf::Text(text) => Some(shorten(&text.value)),
            Leaf::List(items) => {
                let items: Vec<&str> = items.iter().map(|item| &*item.value).collect();
                Some(shorten(&format!("[{}]", items.join(", "))))
            }
        }
    }
}

/// A key, name or path as a message shows it: cut to length, on one line.
pub(crate) fn shown_key(key: &str) -> String {
    one_line(&shorten(key))
}

/// Escapes control characters: what came from outside must not make lines of its own in a log.
pub fn one_line(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() {
            shown.extend(c.escape_debug());
        } else {
            shown.push(c);
        }
    }
    shown
}

/// Cuts a text to a length that a message can carry.
pub fn shorten(text: &str) -> String {
    const MAX_CHARS: usize = 200;
    match text.char_indices().nth(MAX_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
