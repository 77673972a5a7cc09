use std::{collections::HashMap, sync::Arc};

use crate::{
    key_path::KeyPath,
    property::{Leaf, Property, Text, shown_key},
};

/// A document of any format as a tree.
#[derive(Debug, Clone, PartialEq)]
pub enum Node {
    /// Nothing: `key:` or `null`.
    Null,
    /// A scalar as text.
    Scalar(Arc<str>),
    /// Elements in order.
    Sequence(Vec<Node>),
    /// Keys with what stands under them.
    Map(Vec<Member>),
}

/// One key of a map and what stands under it.
#[derive(Debug, Clone, PartialEq)]
pub struct Member {
    /// The key as text.
    pub key: Arc<str>,
    /// The line of the key, counted from 1.
    pub line: Option<usize>,
    /// What stands under it.
    pub value: Node,
}

/// Why a text cannot be read as its format.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Syntax {
    pub(super) line: Option<usize>,
    /// The keys as they are written, where one is at fault.
    pub(super) path: Option<String>,
    pub(super) message: String,
}

impl Syntax {
    pub(super) fn new(line: Option<usize>, message: impl Into<String>) -> Self {
        Self { line, path: None, message: message.into() }
    }
}

/// The documents of a file, and what is wrong with it beyond what stops the parser.
pub(super) type Parsed = (Vec<Vec<Property>>, Vec<Syntax>);

pub(super) const MAX_BYTES: usize = 1 << 20;
pub(super) const MAX_DEPTH: usize = 64;
pub(super) const MAX_NODES: usize = 10_000;
/// The longest path to a value, dots and all. Paths are put together for many values, so that
/// long keys high up in a file would count for every one below.
const MAX_PATH_BYTES: usize = 1_024;

/// What a file may still use. Aliases count as what they stand for, so that a small text cannot
/// become a large tree.
#[derive(Debug)]
pub(super) struct Budget {
    nodes: usize,
    bytes: usize,
}

impl Budget {
    pub(super) fn new() -> Self {
        Self { nodes: MAX_NODES, bytes: MAX_BYTES }
    }

    pub(super) fn take(
        &mut self,
        line: Option<usize>,
        nodes: usize,
        bytes: usize,
    ) -> Result<(), Syntax> {
        self.nodes = self.nodes.checked_sub(nodes).ok_or_else(|| {
            Syntax::new(line, format!("more than {MAX_NODES} values, aliases included"))
        })?;
        self.bytes = self.bytes.checked_sub(bytes).ok_or_else(|| {
            Syntax::new(line, format!("more than {MAX_BYTES} bytes, aliases included"))
        })?;
        Ok(())
    }
}

pub(super) fn check_depth(line: Option<usize>, depth: usize) -> Result<(), Syntax> {
    if depth > MAX_DEPTH {
        return Err(Syntax::new(line, format!("nested deeper than {MAX_DEPTH} levels")));
    }
    Ok(())
}

/// Removes keys that are given twice, the later ones, and reports them.
pub(super) fn refuse_duplicates(
    members: &mut Vec<Member>,
    path: &dyn Fn(&str) -> String,
    problems: &mut Vec<Syntax>,
) {
    let mut seen: HashMap<Arc<str>, Option<usize>> = HashMap::with_capacity(members.len());
    members.retain(|member| match seen.get(&member.key) {
        None => {
            seen.insert(Arc::clone(&member.key), member.line);
            true
        }
        Some(first) => {
            problems.push(twice(&path(&member.key), member.line, *first));
            false
        }
    });
}

pub(super) fn twice(path: &str, line: Option<usize>, first: Option<usize>) -> Syntax {
    let first = first.map(|line| format!(" (first in line {line})")).unwrap_or_default();
    let path = Some(shown_key(path));
    Syntax { line, path, message: format!("given twice{first}") }
}

/// The leaves of a document, each with the keys that lead to it.
pub(super) fn flatten(root: &Node, problems: &mut Vec<Syntax>) -> Vec<Property> {
    let mut properties = Vec::new();
    match root {
        Node::Null => {}
        Node::Map(members) => {
            flatten_map(members, &mut KeyPath::default(), &mut properties, problems);
        }
        Node::Scalar(_) | Node::Sequence(_) => {
            problems.push(Syntax::new(Some(1), "expected sections at the top level"));
        }
    }
    properties
}

fn flatten_map(
    members: &[Member],
    path: &mut KeyPath,
    properties: &mut Vec<Property>,
    problems: &mut Vec<Syntax>,
) {
    for Member { key, line, value } in members {
        let length = path.len();
        if let Err(problem) = push_key(path, key, *line) {
            problems.push(problem);
            path.truncate(length);
            continue;
        }
        match value {
            Node::Map(members) if !members.is_empty() => {
                flatten_map(members, path, properties, problems);
            }
            value => {
                properties.push(Property { path: path.clone(), line: *line, leaf: leaf(value) });
            }
        }
        path.truncate(length);
    }
}

/// Appends a written key, within the limits.
pub(super) fn push_key(path: &mut KeyPath, key: &str, line: Option<usize>) -> Result<(), Syntax> {
    if path.bytes() + key.len() > MAX_PATH_BYTES {
        let message = format!("a key and those above it are longer than {MAX_PATH_BYTES} bytes");
        return Err(Syntax::new(line, message));
    }
    path.push(key, line);
    check_depth(line, path.len())
}

fn leaf(value: &Node) -> Leaf {
    match value {
        Node::Null | Node::Map(_) => Leaf::Empty,
        Node::Scalar(text) => Leaf::Text(scalar(text)),
        Node::Sequence(items) => {
            let items = items.iter().map(|item| match item {
                Node::Scalar(text) => Some(scalar(text)),
                Node::Null | Node::Sequence(_) | Node::Map(_) => None,
            });
            items.collect::<Option<Vec<_>>>().map_or(Leaf::Nested, Leaf::List)
        }
    }
}

fn scalar(text: &Arc<str>) -> Text {
    Text { value: Arc::clone(text), written: None }
}
