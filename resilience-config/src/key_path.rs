use std::{collections::HashMap, sync::Arc};

/// The keys that lead to a value, split at their dots.
///
/// YAML nests keys, `.properties` writes them in one with dots, and both may be mixed. Instance
/// names may have dots too, so every segment remembers whether a dot within one written key
/// joined it to the segment before.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct KeyPath {
    segments: Vec<Segment>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Segment {
    pub(crate) text: Arc<str>,
    /// The line of the written key, counted from 1.
    pub(crate) line: Option<usize>,
    /// Whether a dot inside one written key joins it to the segment before.
    pub(crate) joined: bool,
}

impl KeyPath {
    /// The path of one key as it was written, such as `retry.instances.a.max_attempts`.
    pub(crate) fn of(written: &str) -> Self {
        let mut path = Self::default();
        path.push(written, None);
        path
    }

    /// Appends a key that stands one level deeper.
    pub(crate) fn push(&mut self, written: &str, line: Option<usize>) {
        for (i, text) in split(written).into_iter().enumerate() {
            self.segments.push(Segment { text: text.into(), line, joined: i > 0 });
        }
    }

    /// The path below its first `length` segments.
    #[cfg(feature = "files")]
    pub(crate) fn without(&self, length: usize) -> Self {
        Self { segments: self.segments[length.min(self.segments.len())..].to_vec() }
    }

    #[cfg(feature = "files")]
    pub(crate) fn truncate(&mut self, length: usize) {
        self.segments.truncate(length);
    }

    #[cfg(feature = "files")]
    pub(crate) fn len(&self) -> usize {
        self.segments.len()
    }

    /// The length of the path as one dotted text.
    #[cfg(feature = "files")]
    pub(crate) fn bytes(&self) -> usize {
        self.segments.iter().map(|segment| segment.text.len() + 1).sum()
    }

    pub(crate) fn segments(&self) -> &[Segment] {
        &self.segments
    }
}

/// The segments as one dotted text.
pub(crate) fn joined(segments: &[Segment]) -> String {
    let mut text = String::new();
    for (i, segment) in segments.iter().enumerate() {
        if i > 0 {
            text.push('.');
        }
        text.push_str(&segment.text);
    }
    text
}

/// Splits at dots; what stands in brackets stays whole (`instances[my.name]`, as Spring writes
/// names with dots), but for an index such as `[0]`, which stays with its key.
fn split(written: &str) -> Vec<String> {
    let mut segments = Vec::new();
    let mut current = String::new();
    let mut rest = written;
    // After a bracketed name its dot is a separator only: `[a.b].c` has two segments.
    let mut after_bracket = false;
    let closing = closing_brackets(written);
    while let Some(c) = rest.chars().next() {
        let tail = &rest[c.len_utf8()..];
        if c == '.' {
            if !after_bracket {
                segments.push(std::mem::take(&mut current));
            }
            after_bracket = false;
            rest = tail;
            continue;
        }
        let start = written.len() - tail.len();
        let inner = closing.get(&start).map(|end| &written[start..*end]);
        if c == '['
            && let Some(inner) = inner
            && !inner.bytes().all(|b| b.is_ascii_digit())
        {
            if !current.is_empty() {
                segments.push(std::mem::take(&mut current));
            }
            segments.push(inner.to_owned());
            after_bracket = true;
            rest = &tail[inner.len() + 1..];
            continue;
        }
        after_bracket = false;
        current.push(c);
        rest = tail;
    }
    if !after_bracket {
        segments.push(current);
    }
    segments
}

/// Where each bracket that is opened is closed: from the place after the one to that of the other. All
/// are found in one go, as a key may hold nothing but brackets.
fn closing_brackets(written: &str) -> HashMap<usize, usize> {
    let mut open = Vec::new();
    let mut closing = HashMap::new();
    for (at, byte) in written.bytes().enumerate() {
        match byte {
            b'[' => open.push(at + 1),
            b']' => closing.extend(open.pop().map(|start| (start, at))),
            _ => {}
        }
    }
    closing
}

/// Takes the index off a key: `errors[2]` is `errors` and 2.
pub(crate) fn split_index(key: &str) -> (&str, Option<usize>) {
    let index = key.strip_suffix(']').and_then(|open| open.rsplit_once('['));
    match index {
        Some((name, digits)) if !name.is_empty() => {
            digits.parse().map_or((key, None), |index| (name, Some(index)))
        }
        _ => (key, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_written_key_is_split_at_its_dots() {
        assert_eq!(split("a.b-c.d"), ["a", "b-c", "d"]);
        assert_eq!(split("a"), ["a"]);
        assert_eq!(split(""), [""]);
        assert_eq!(split("a..b."), ["a", "", "b", ""]);
    }

    #[test]
    fn a_bracketed_name_stays_whole() {
        assert_eq!(split("instances[my.name].max"), ["instances", "my.name", "max"]);
        assert_eq!(split("[my.name]"), ["my.name"]);
        assert_eq!(split("[open"), ["[open"]);
        assert_eq!(split("instances[a[0].b].max[1]"), ["instances", "a[0].b", "max[1]"]);
    }

    #[test]
    fn an_index_stays_with_its_key() {
        assert_eq!(split("a.errors[0]"), ["a", "errors[0]"]);
        assert_eq!(split_index("errors[12]"), ("errors", Some(12)));
        assert_eq!(split_index("errors[x]"), ("errors[x]", None));
        assert_eq!(split_index("errors"), ("errors", None));
        assert_eq!(split_index("[0]"), ("[0]", None));
    }

    #[test]
    fn nested_keys_are_not_joined() {
        let mut path = KeyPath::of("retry.instances");
        path.push("a.b", None);
        let joined: Vec<bool> = path.segments().iter().map(|s| s.joined).collect();
        assert_eq!(joined, [false, true, false, true]);
    }
}
