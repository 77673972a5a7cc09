use resilience_settings::{canonical, same_name};

use crate::{
    address::{is_ours, is_section, is_store, top_level_names},
    hint::Hints,
    property::{Property, shown_key},
};

/// Under which key of a file our sections stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Root {
    /// At the top level.
    Bare,
    /// Under `resilience`.
    Resilience,
    /// Under `resilience4j`: written for Resilience4j.
    Resilience4j,
    /// The file has nothing in it.
    Empty,
}

/// How many sections that are none of ours are looked at for a misspelt one.
const MAX_OTHERS: usize = 100;

impl Root {
    /// The root that a property speaks for. Beside a root of ours, `retry.wait: 2s` is taken for
    /// the application's own, and so is `redis`.
    fn of_property(property: &Property, named: bool) -> Option<Root> {
        let (first, rest) = property.path.segments().split_first()?;
        let root = Root::of(&first.text)?;
        let section_like =
            !is_store(&first.text) && rest.first().is_none_or(|second| is_section(&second.text));
        if root == Root::Bare && named && !section_like { None } else { Some(root) }
    }

    fn of(segment: &str) -> Option<Root> {
        match canonical(segment).as_str() {
            "resilience" => Some(Root::Resilience),
            "resilience4j" => Some(Root::Resilience4j),
            _ if is_ours(segment) => Some(Root::Bare),
            _ => None,
        }
    }

    /// The root of a file, found over all of its documents.
    ///
    /// # Errors
    ///
    /// Line and message when there are two roots, or none in a file that is not empty.
    pub(super) fn find(documents: &[Vec<Property>]) -> Result<Root, (Option<usize>, String)> {
        let mut found: Option<(Root, &str, Option<usize>)> = None;
        let mut others: Vec<&str> = Vec::new();
        let mut first_line = None;
        let firsts = || documents.iter().flatten().filter_map(|p| p.path.segments().first());
        let named = firsts().any(|first| {
            matches!(Root::of(&first.text), Some(Root::Resilience | Root::Resilience4j))
        });
        for property in documents.iter().flatten() {
            let Some(segment) = property.path.segments().first() else { continue };
            first_line = first_line.or(segment.line);
            match (Root::of_property(property, named), found) {
                (None, _) if others.len() == MAX_OTHERS || others.contains(&&*segment.text) => {}
                (None, _) => others.push(&segment.text),
                (Some(root), None) => found = Some((root, &segment.text, segment.line)),
                (Some(root), Some((first, text, line))) if root != first => {
                    let line = line.map(|line| format!(" in line {line}")).unwrap_or_default();
                    let message = format!(
                        "`{}` and `{text}`{line} are two roots; use one of `resilience`, \
                         `resilience4j` or pattern sections at the top level",
                        segment.text
                    );
                    return Err((segment.line, message));
                }
                _ => {}
            }
        }
        match found {
            Some((root, ..)) => Ok(root),
            None if others.is_empty() => Ok(Root::Empty),
            None => Err((first_line, nothing_found(&others))),
        }
    }

    /// Whether a key at the top level is none of ours, and to be left alone.
    pub(super) fn leaves_alone(self, segment: &str) -> bool {
        match self {
            // Conditions on profiles stand there also in a file without a root.
            Root::Bare => same_name(segment, "spring"),
            Root::Resilience | Root::Resilience4j => Root::of(segment) != Some(self),
            Root::Empty => true,
        }
    }

    /// How many keys the root takes of a path.
    pub(super) fn length(self) -> usize {
        usize::from(matches!(self, Root::Resilience | Root::Resilience4j))
    }
}

fn nothing_found(others: &[&str]) -> String {
    const SHOWN: usize = 5;
    let patterns = top_level_names();
    let names = || ["resilience", "resilience4j"].into_iter().chain(patterns.iter().copied());
    let hints = Hints::default();
    let hint = others.iter().find_map(|other| hints.did_you_mean(other, names()));
    let hint = hint.unwrap_or_default();
    let shown: Vec<String> =
        others.iter().take(SHOWN).map(|other| format!("`{}`", shown_key(other))).collect();
    let more = if others.len() > SHOWN { ", …" } else { "" };
    format!(
        "looked for `resilience`, `resilience4j` or one of {} at the top level and found {}{more}{hint}",
        patterns.join(", "),
        shown.join(", ")
    )
}
