use std::{collections::HashMap, iter::Peekable, str::Chars};

use super::node::{Budget, Parsed, Syntax, push_key, twice};
use crate::{
    key_path::KeyPath,
    property::{Leaf, Property, Text},
};

/// Reads Java's `.properties`: comments, continued lines, escapes, and Spring's `#---` between
/// documents.
pub(super) fn parse(text: &str) -> Result<Parsed, Syntax> {
    let mut budget = Budget::new();
    let mut problems = Vec::new();
    let mut documents = vec![Vec::new()];
    let mut seen: HashMap<String, usize> = HashMap::new();
    for logical in logical_lines(text) {
        let line = Some(logical.line);
        let (key, value) = match logical.content {
            Content::Separator => {
                documents.push(Vec::new());
                seen.clear();
                continue;
            }
            Content::Entry(content) => match entry(&content) {
                Ok(entry) => entry,
                Err(message) => {
                    problems.push(Syntax::new(line, message));
                    continue;
                }
            },
        };
        budget.take(line, 1, key.len() + value.len())?;
        if let Some(first) = seen.insert(key.clone(), logical.line) {
            problems.push(twice(&key, line, Some(first)));
            continue;
        }
        let mut path = KeyPath::default();
        match push_key(&mut path, &key, line) {
            Ok(()) => {
                let leaf = Leaf::Text(Text::from(value.as_str()));
                if let Some(document) = documents.last_mut() {
                    document.push(Property { path, line, leaf });
                }
            }
            Err(problem) => problems.push(problem),
        }
    }
    Ok((documents, problems))
}

/// What is read as one: a line with those that continue it.
struct Logical {
    line: usize,
    content: Content,
}

enum Content {
    Separator,
    Entry(String),
}

fn logical_lines(text: &str) -> Vec<Logical> {
    let mut logical = Vec::new();
    let mut lines = natural_lines(text).zip(1..);
    while let Some((first, line)) = lines.next() {
        if matches!(first.trim_end(), "#---" | "!---") {
            logical.push(Logical { line, content: Content::Separator });
            continue;
        }
        let start = first.trim_start_matches(is_blank);
        if start.is_empty() || start.starts_with(['#', '!']) {
            continue;
        }
        let mut content = start.to_owned();
        while continues(&content) {
            content.pop();
            let Some((next, _)) = lines.next() else { break };
            content.push_str(next.trim_start_matches(is_blank));
        }
        logical.push(Logical { line, content: Content::Entry(content) });
    }
    logical
}

/// Lines end with `\n`, `\r` or both.
fn natural_lines(text: &str) -> impl Iterator<Item = &str> {
    text.split('\n').flat_map(|line| line.strip_suffix('\r').unwrap_or(line).split('\r'))
}

fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\u{c}')
}

/// An odd number of backslashes at the end: the last one is no escaped backslash.
fn continues(content: &str) -> bool {
    content.bytes().rev().take_while(|byte| *byte == b'\\').count() % 2 == 1
}

/// Key and value: the key ends at the first `=`, `:` or blank that is not escaped.
fn entry(content: &str) -> Result<(String, String), String> {
    let mut chars = content.chars().peekable();
    let mut key = String::new();
    while let Some(&c) = chars.peek() {
        if matches!(c, '=' | ':') || is_blank(c) {
            break;
        }
        chars.next();
        unescape(c, &mut chars, &mut key)?;
    }
    skip_blanks(&mut chars);
    if chars.next_if(|c| matches!(c, '=' | ':')).is_some() {
        skip_blanks(&mut chars);
    }
    let mut value = String::new();
    while let Some(c) = chars.next() {
        unescape(c, &mut chars, &mut value)?;
    }
    Ok((key, value))
}

fn skip_blanks(chars: &mut Peekable<Chars<'_>>) {
    while chars.next_if(|c| is_blank(*c)).is_some() {}
}

/// Appends what `c`, with what follows it when it is a backslash, stands for.
fn unescape(c: char, chars: &mut Peekable<Chars<'_>>, out: &mut String) -> Result<(), String> {
    if c != '\\' {
        out.push(c);
        return Ok(());
    }
    match chars.next() {
        None => {}
        Some('t') => out.push('\t'),
        Some('n') => out.push('\n'),
        Some('r') => out.push('\r'),
        Some('f') => out.push('\u{c}'),
        Some('u') => out.push(unicode(chars)?),
        Some(other) => out.push(other),
    }
    Ok(())
}

/// A `\uXXXX` escape, or two of them for a character beyond the first 65,536.
fn unicode(chars: &mut Peekable<Chars<'_>>) -> Result<char, String> {
    let malformed = || "a \\u escape needs four hexadecimal digits of a character".to_owned();
    let unit = |chars: &mut Peekable<Chars<'_>>| {
        let mut unit = 0_u16;
        for _ in 0..4 {
            let digit = chars.next().and_then(|c| c.to_digit(16)).ok_or_else(malformed)?;
            unit = unit * 16 + u16::try_from(digit).map_err(|_| malformed())?;
        }
        Ok::<u16, String>(unit)
    };
    let first = unit(chars)?;
    if !(0xd800..0xdc00).contains(&first) {
        return char::from_u32(u32::from(first)).ok_or_else(malformed);
    }
    if chars.next() != Some('\\') || chars.next() != Some('u') {
        return Err(malformed());
    }
    let pair = [first, unit(chars)?];
    char::decode_utf16(pair).next().and_then(Result::ok).ok_or_else(malformed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key_path::joined;

    fn read(text: &str) -> Vec<(String, String, usize)> {
        let (documents, problems) = parse(text).unwrap();
        assert_eq!(problems, []);
        documents
            .into_iter()
            .flatten()
            .map(|property| {
                let Leaf::Text(value) = property.leaf else { panic!("no text") };
                let key = joined(property.path.segments());
                (key, value.value.to_string(), property.line.unwrap())
            })
            .collect()
    }

    fn row(key: &str, value: &str, line: usize) -> (String, String, usize) {
        (key.into(), value.into(), line)
    }

    #[test]
    fn keys_end_at_the_first_separator() {
        let text = "a=1\nb : 2\nc 3\n  d\t=\t4 \ne\nf==5";
        assert_eq!(
            read(text),
            [
                row("a", "1", 1),
                row("b", "2", 2),
                row("c", "3", 3),
                row("d", "4 ", 4),
                row("e", "", 5),
                row("f", "=5", 6)
            ]
        );
    }

    #[test]
    fn comments_and_blank_lines_are_skipped() {
        assert_eq!(read("# a=1\n\n ! b=2\r\nc=3\r\n"), [row("c", "3", 4)]);
    }

    #[test]
    fn a_backslash_continues_the_line() {
        assert_eq!(read("a=x,\\\n   y\nb=z"), [row("a", "x,y", 1), row("b", "z", 3)]);
        assert_eq!(read("a=x\\\\\nb=z"), [row("a", "x\\", 1), row("b", "z", 2)]);
    }

    #[test]
    fn escapes_are_resolved() {
        assert_eq!(read("a\\=b=\\u00e4\\t\\q"), [row("a=b", "ä\tq", 1)]);
        assert_eq!(read("a=\\ud83d\\ude00"), [row("a", "😀", 1)]);
    }

    #[test]
    fn a_malformed_escape_is_a_problem_of_its_line() {
        for text in ["a=1\nb=\\u12", "a=1\nb=\\ud83d", "a=1\nb=\\ude00"] {
            let (_, problems) = parse(text).unwrap();
            assert_eq!(problems.len(), 1, "{text}");
            assert_eq!(problems[0].line, Some(2));
        }
    }

    #[test]
    fn a_separator_starts_a_document() {
        let (documents, problems) = parse("a=1\n#---\na=2\n!---\nb=3").unwrap();
        assert_eq!(problems, []);
        assert_eq!(documents.iter().map(Vec::len).collect::<Vec<_>>(), [1, 1, 1]);
    }

    #[test]
    fn a_key_given_twice_is_a_problem() {
        let (_, problems) = parse("a=1\nb=2\na=3").unwrap();
        assert_eq!(problems, [twice("a", Some(3), Some(1))]);
    }
}
