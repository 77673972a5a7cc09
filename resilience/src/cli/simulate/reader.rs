//! Reads a scenario's tree key by key: every key is known, and in its range.

use std::{collections::HashMap, fmt::Display, str::FromStr, sync::Arc, time::Duration};

use resilience_settings::{nearest, parse_duration};

use crate::config::{Member, Node, Problem, one_line, shorten};

/// A map and where it stands.
pub(super) struct Map<'a> {
    file: &'a str,
    path: String,
    line: Option<usize>,
    members: HashMap<&'a str, &'a Member>,
}

impl<'a> Map<'a> {
    /// Takes a node for a map that has these keys at most.
    pub(super) fn of(
        file: &'a str,
        path: String,
        line: Option<usize>,
        node: &'a Node,
        keys: &[&str],
    ) -> Result<Self, Problem> {
        let mut map = Self { file, path, line, members: HashMap::new() };
        let Node::Map(members) = node else {
            return Err(map.problem(map.line, "expected keys and values"));
        };
        for member in members {
            if !keys.contains(&&*member.key) {
                let hint = match nearest(&member.key, keys.iter().copied()) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("known are {}", keys.join(", ")),
                };
                let key = one_line(&shorten(&member.key));
                return Err(map.problem(member.line, format!("unknown key `{key}`; {hint}")));
            }
            map.members.insert(&member.key, member);
        }
        Ok(map)
    }

    pub(super) fn problem(&self, line: Option<usize>, message: impl Into<String>) -> Problem {
        let place = match line {
            Some(line) => format!("{}:{line}", self.file),
            None => self.file.to_owned(),
        };
        let problem = Problem::new(message).place(place);
        if self.path.is_empty() { problem } else { problem.path(self.path.as_str()) }
    }

    /// A problem of one key.
    pub(super) fn problem_at(&self, key: &str, message: impl Into<String>) -> Problem {
        let line = self.members.get(key).and_then(|member| member.line).or(self.line);
        self.problem(line, message).path(self.path_of(key))
    }

    fn path_of(&self, key: &str) -> String {
        if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) }
    }

    pub(super) fn get(&self, key: &str) -> Option<&'a Member> {
        self.members.get(key).copied()
    }

    /// A text, if the key is there.
    pub(super) fn text(&self, key: &str) -> Result<Option<&'a Arc<str>>, Problem> {
        match self.get(key).map(|member| &member.value) {
            None => Ok(None),
            Some(Node::Scalar(text)) => Ok(Some(text)),
            Some(_) => Err(self.problem_at(key, "expected one value")),
        }
    }

    /// A text that `read` understands; `allowed` is what it does.
    pub(super) fn read<T>(
        &self,
        key: &str,
        allowed: &str,
        read: impl FnOnce(&str) -> Option<T>,
    ) -> Result<Option<T>, Problem> {
        let Some(text) = self.text(key)? else { return Ok(None) };
        match read(text.trim()) {
            Some(value) => Ok(Some(value)),
            None => Err(self.problem_at(key, format!("expected {allowed}")).value(shorten(text))),
        }
    }

    /// A number within a range.
    pub(super) fn number<T: FromStr + PartialOrd + Display>(
        &self,
        key: &str,
        (least, most): (T, T),
    ) -> Result<Option<T>, Problem> {
        let allowed = format!("a number from {least} to {most}");
        self.read(key, &allowed, |text| {
            text.parse().ok().filter(|number| (&least..=&most).contains(&number))
        })
    }

    /// A duration up to a longest one.
    pub(super) fn duration(
        &self,
        key: &str,
        longest: Duration,
    ) -> Result<Option<Duration>, Problem> {
        let allowed =
            format!("a duration above 0 and up to {}", crate::cli::time::readable(longest));
        self.read(key, &allowed, |text| {
            parse_duration(text).ok().filter(|time| !time.is_zero() && *time <= longest)
        })
    }

    /// The maps of a list, if the key is there.
    pub(super) fn maps(&self, key: &str, keys: &[&str]) -> Result<Option<Vec<Map<'a>>>, Problem> {
        let Some(member) = self.get(key) else { return Ok(None) };
        let Node::Sequence(items) = &member.value else {
            return Err(self.problem_at(key, "expected a list, such as [{ for: 10s, … }, { … }]"));
        };
        let maps = items.iter().enumerate().map(|(at, item)| {
            let line = match item {
                Node::Map(members) => members.first().and_then(|member| member.line),
                _ => member.line,
            };
            Map::of(self.file, format!("{}[{at}]", self.path_of(key)), line, item, keys)
        });
        maps.collect::<Result<Vec<_>, _>>().map(Some)
    }
}
