use std::{borrow::Cow, collections::HashMap, fmt::Write as _, sync::Arc};

use saphyr_parser::{Event, Parser, ScalarStyle};
use serde_json::value::RawValue;

use super::node::{Budget, Member, Node, Parsed, Syntax, check_depth, flatten, refuse_duplicates};

/// Reads YAML, and JSON as the part of YAML it is: every document of the stream.
///
/// The tree is built here from the parser's events, so that the limits hold while it grows.
pub(super) fn parse(text: &str) -> Result<Parsed, Syntax> {
    let (documents, mut problems) = trees(text)?;
    let documents = documents.iter().map(|root| flatten(root, &mut problems)).collect();
    Ok((documents, problems))
}

/// The documents as trees, and what is wrong with them beyond what stops the parser.
pub(super) fn trees(text: &str) -> Result<(Vec<Node>, Vec<Syntax>), Syntax> {
    let mut builder = Builder {
        budget: Budget::new(),
        frames: Vec::new(),
        anchors: HashMap::new(),
        documents: Vec::new(),
        problems: Vec::new(),
    };
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| {
            // At the end of the text the parser is one line too far.
            let line = error.marker().line().min(text.lines().count().max(1));
            Syntax::new(Some(line), format!("no valid YAML: {}", error.info()))
        })?;
        builder.event(event, Some(span.start.line()))?;
    }
    Ok((builder.documents, builder.problems))
}

/// Reads JSON: one document, an object. YAML would take more than that, so it is checked first.
pub(super) fn parse_json(text: &str) -> Result<Parsed, Syntax> {
    let trimmed = text.trim_start();
    if !trimmed.is_empty() && !trimmed.starts_with('{') {
        let skipped = text.len() - trimmed.len();
        let line = 1 + text[..skipped].matches('\n').count();
        return Err(Syntax::new(Some(line), "no valid JSON: expected an object"));
    }
    if !trimmed.is_empty() {
        serde_json::from_str::<&RawValue>(text).map_err(|error| no_json(&error))?;
    }
    parse(&join_surrogates(text)).map_err(|error| {
        Syntax::new(error.line, error.message.replacen("no valid YAML", "no valid JSON", 1))
    })
}

fn no_json(error: &serde_json::Error) -> Syntax {
    let (line, column) = (error.line(), error.column());
    // The place comes last in its message; ours has the line in front.
    let message = error.to_string();
    let what = message.strip_suffix(&format!(" at line {line} column {column}"));
    let what = what.unwrap_or(&message);
    Syntax::new(Some(line), format!("no valid JSON: {what} at column {column}"))
}

/// Writes a character beyond the first 65,536, two escapes in JSON, as the one it is in YAML.
fn join_surrogates(text: &str) -> Cow<'_, str> {
    let mut out = String::new();
    let mut copied = 0;
    let mut at = 0;
    while let Some(found) = text[at..].find('\\') {
        let start = at + found;
        if let Some(c) = surrogate_pair(&text[start..]) {
            out.push_str(&text[copied..start]);
            let _ = write!(out, "\\U{:08x}", u32::from(c)); // a String takes everything
            copied = start + SURROGATE_PAIR_BYTES;
            at = copied;
        } else {
            // What the backslash escapes is no escape of its own.
            at = start + 1 + text[start + 1..].chars().next().map_or(0, char::len_utf8);
        }
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(&text[copied..]);
    Cow::Owned(out)
}

const SURROGATE_PAIR_BYTES: usize = "\\ud83d\\ude00".len();

fn surrogate_pair(text: &str) -> Option<char> {
    let unit = |text: &str| u16::from_str_radix(text.strip_prefix("\\u")?, 16).ok();
    let half = SURROGATE_PAIR_BYTES / 2;
    let pair = [unit(text.get(..half)?)?, unit(text.get(half..SURROGATE_PAIR_BYTES)?)?];
    if !(0xd800..0xdc00).contains(&pair[0]) {
        return None;
    }
    char::decode_utf16(pair).next()?.ok()
}

struct Builder {
    budget: Budget,
    frames: Vec<Frame>,
    anchors: HashMap<usize, Anchored>,
    documents: Vec<Node>,
    problems: Vec<Syntax>,
}

/// A node that aliases may stand for, measured once.
struct Anchored {
    node: Node,
    size: Size,
}

#[derive(Default, Clone, Copy)]
struct Size {
    nodes: usize,
    bytes: usize,
    depth: usize,
}

/// A sequence or map that is still open.
struct Frame {
    anchor: usize,
    kind: Open,
}

enum Open {
    Sequence(Vec<Node>),
    Map {
        members: Vec<Member>,
        /// The key whose value comes next, its line, and whether it is a merge key.
        key: Option<(Arc<str>, Option<usize>, bool)>,
        /// The values of merge keys (`<<: *base`).
        merged: Vec<Member>,
    },
}

impl Frame {
    /// The key whose value is being read.
    fn key(&self) -> Option<&str> {
        match &self.kind {
            Open::Map { key: Some((key, ..)), .. } => Some(key),
            Open::Map { .. } | Open::Sequence(_) => None,
        }
    }
}

impl Builder {
    fn event(&mut self, event: Event<'_>, line: Option<usize>) -> Result<(), Syntax> {
        match event {
            Event::Scalar(text, style, anchor, _) => self.scalar(text, style, anchor, line),
            Event::SequenceStart(anchor, _) => self.open(anchor, Open::Sequence(Vec::new()), line),
            Event::MappingStart(anchor, _) => {
                let map = Open::Map { members: Vec::new(), key: None, merged: Vec::new() };
                self.open(anchor, map, line)
            }
            Event::SequenceEnd | Event::MappingEnd => self.close(line),
            Event::Alias(id) => self.alias(id, line),
            Event::Nothing
            | Event::StreamStart
            | Event::StreamEnd
            | Event::DocumentStart(_)
            | Event::DocumentEnd => Ok(()),
        }
    }

    fn scalar(
        &mut self,
        text: Cow<'_, str>,
        style: ScalarStyle,
        anchor: usize,
        line: Option<usize>,
    ) -> Result<(), Syntax> {
        let plain = style == ScalarStyle::Plain;
        let text: Arc<str> = text.into();
        if let Some(Frame { kind: Open::Map { key: key @ None, .. }, .. }) = self.frames.last_mut()
        {
            self.budget.take(line, 0, text.len())?;
            let merge = plain && &*text == "<<";
            if anchor > 0 {
                let size = Size { nodes: 1, bytes: text.len(), depth: 0 };
                let node = Node::Scalar(Arc::clone(&text));
                self.anchors.insert(anchor, Anchored { node, size });
            }
            *key = Some((text, line, merge));
            return Ok(());
        }
        self.budget.take(line, 1, text.len())?;
        let null = plain && matches!(&*text, "" | "~" | "null" | "Null" | "NULL");
        self.complete(if null { Node::Null } else { Node::Scalar(text) }, anchor, line)
    }

    fn open(&mut self, anchor: usize, kind: Open, line: Option<usize>) -> Result<(), Syntax> {
        self.budget.take(line, 1, 0)?;
        self.frames.push(Frame { anchor, kind });
        check_depth(line, self.frames.len())
    }

    fn close(&mut self, line: Option<usize>) -> Result<(), Syntax> {
        let Some(frame) = self.frames.pop() else { return Ok(()) };
        let node = match frame.kind {
            Open::Sequence(items) => Node::Sequence(items),
            Open::Map { mut members, merged, .. } => {
                let frames = &self.frames;
                let path = |key: &str| {
                    let above = frames.iter().filter_map(Frame::key);
                    above.chain([key]).collect::<Vec<_>>().join(".")
                };
                refuse_duplicates(&mut members, &path, &mut self.problems);
                for member in merged {
                    // The map's own keys go before merged ones, earlier merged before later.
                    if !members.iter().any(|own| own.key == member.key) {
                        members.push(member);
                    }
                }
                Node::Map(members)
            }
        };
        self.complete(node, frame.anchor, line)
    }

    fn alias(&mut self, id: usize, line: Option<usize>) -> Result<(), Syntax> {
        let Some(anchored) = self.anchors.get(&id) else {
            return Err(Syntax::new(line, "an alias stands inside the node it names"));
        };
        self.budget.take(line, anchored.size.nodes, anchored.size.bytes)?;
        check_depth(line, self.frames.len() + anchored.size.depth)?;
        let node = anchored.node.clone();
        if let Some(Frame { kind: Open::Map { key: key @ None, .. }, .. }) = self.frames.last_mut()
            && let Node::Scalar(text) = &node
        {
            *key = Some((Arc::clone(text), line, false));
            return Ok(());
        }
        self.complete(node, 0, line)
    }

    /// Puts a finished node where it belongs.
    fn complete(&mut self, node: Node, anchor: usize, line: Option<usize>) -> Result<(), Syntax> {
        if anchor > 0 {
            let size = measure(&node);
            self.anchors.insert(anchor, Anchored { node: node.clone(), size });
        }
        match self.frames.last_mut().map(|frame| &mut frame.kind) {
            None => self.documents.push(node),
            Some(Open::Sequence(items)) => items.push(node),
            Some(Open::Map { members, key, merged }) => match key.take() {
                None => return Err(Syntax::new(line, "a key must be plain text")),
                Some((_, line, true)) => merge(node, line, merged)?,
                Some((key, line, false)) => members.push(Member { key, line, value: node }),
            },
        }
        Ok(())
    }
}

/// What `<<:` brings in: the keys of one map or of several.
fn merge(node: Node, line: Option<usize>, merged: &mut Vec<Member>) -> Result<(), Syntax> {
    let maps = match node {
        Node::Sequence(items) => items,
        single => vec![single],
    };
    for map in maps {
        let Node::Map(members) = map else {
            return Err(Syntax::new(line, "`<<` takes a map or a list of maps"));
        };
        merged.extend(members);
    }
    Ok(())
}

fn measure(node: &Node) -> Size {
    let mut size = Size { nodes: 1, ..Size::default() };
    let mut add = |child: Size, key: usize| {
        size.nodes += child.nodes;
        size.bytes += child.bytes + key;
        size.depth = size.depth.max(child.depth);
    };
    match node {
        Node::Null => return size,
        Node::Scalar(text) => {
            size.bytes = text.len();
            return size;
        }
        Node::Sequence(items) => {
            for item in items {
                add(measure(item), 0);
            }
        }
        Node::Map(members) => {
            for member in members {
                add(measure(&member.value), member.key.len());
            }
        }
    }
    size.depth += 1;
    size
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_of_escapes_are_one_character() {
        for (json, yaml) in [
            (r"a\ud83d\ude00b", r"a\U0001f600b"),
            (r"\uD83D\uDE00\ud83d\ude00", r"\U0001f600\U0001f600"),
            (r"\\ud83d\ude00", r"\\ud83d\ude00"), // a backslash, then text
            (r"\u00e4\n\ud83dx", r"\u00e4\n\ud83dx"),
            (r"ä\", r"ä\"),
        ] {
            assert_eq!(join_surrogates(json), yaml, "{json}");
        }
    }
}
