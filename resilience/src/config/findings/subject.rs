use std::{collections::BTreeMap, rc::Rc, time::Duration};

use resilience_settings::{Pattern, Value, canonical};

use super::{Finding, Severity};
use crate::config::{Config, Inline, Origin, Settings, instance_path, shorten};

/// An instance under its settings.
#[derive(Debug)]
pub(crate) struct Subject {
    name: String,
    /// The key path of its settings.
    entry: String,
    settings: Settings,
}

impl Subject {
    pub(crate) fn new(name: &str, settings: Settings) -> Self {
        let entry = instance_path(settings.pattern(), name);
        Self { name: name.to_owned(), entry, settings }
    }

    /// What an instance runs on that nobody declares.
    pub(crate) fn undeclared(settings: Settings) -> Self {
        let entry = format!("{}.configs.default", settings.pattern());
        Self { name: String::new(), entry, settings }
    }

    pub(super) fn settings(&self) -> &Settings {
        &self.settings
    }

    pub(super) fn duration(&self, key: &str) -> Duration {
        self.settings.duration(key)
    }

    /// Whether somebody set the key, be it to its default.
    pub(super) fn wrote(&self, key: &str) -> bool {
        self.settings.origin(key) != Origin::Default
    }

    pub(super) fn path(&self, key: &str) -> String {
        format!("{}.{key}", self.entry)
    }

    /// A warning at the place where the key's value was written.
    pub(super) fn finding(
        &self,
        code: &'static str,
        key: &str,
        message: impl Into<String>,
    ) -> Finding {
        Finding {
            path: Some(self.path(key)),
            value: self.settings.get(key).map(shown),
            place: self.settings.origin(key).place(),
            ..Finding::new(code, Severity::Warning, message)
        }
    }
}

/// A value as a message shows it. A list may be long, and is not put together to be cut.
fn shown(value: &Value) -> String {
    const MOST: usize = 20;
    match value {
        Value::Kinds(list) | Value::Texts(list) if list.len() > MOST => {
            shorten(&format!("[{}, …", list[..MOST].join(", ")))
        }
        value => shorten(&value.to_string()),
    }
}

/// The instances that protect one call.
#[derive(Debug, Default)]
pub(crate) struct Together {
    /// Who says that they do, to be put before "has": a function, or their common name.
    pub(super) who: String,
    members: BTreeMap<Pattern, Rc<Subject>>,
    /// How many permissions a call takes of the rate limiter.
    pub(super) permits: u32,
}

impl Together {
    pub(crate) fn new(who: String, permits: u32, members: Vec<Rc<Subject>>) -> Self {
        let members = members.into_iter().map(|member| (member.settings.pattern(), member));
        Self { who, permits, members: members.collect() }
    }

    /// The one of a pattern, if there is one that acts.
    pub(super) fn member(&self, pattern: Pattern) -> Option<&Subject> {
        self.members
            .get(&pattern)
            .map(|member| &**member)
            .filter(|one| one.settings.bool("enabled"))
    }

    pub(super) fn pair(&self, one: Pattern, other: Pattern) -> Option<(&Subject, &Subject)> {
        Some((self.member(one)?, self.member(other)?))
    }
}

/// What the rules look at.
#[derive(Debug, Default)]
pub(crate) struct Subjects {
    all: BTreeMap<(Pattern, String), Rc<Subject>>,
    together: Vec<Together>,
    /// How many processes share what is global.
    nodes: u32,
}

impl Subjects {
    /// What a configuration declares; instances of one name are taken to protect one call.
    pub(crate) fn of(config: &Config) -> Self {
        let mut subjects = Self::declared(config, |pattern, name| {
            config.loaded().resolve(pattern, name, &Inline::default()).ok()
        });
        subjects.join_equal_names(|_| true);
        subjects
    }

    /// The declared instances, under the settings that `resolve` gives them.
    pub(crate) fn declared(
        config: &Config,
        resolve: impl Fn(Pattern, &str) -> Option<Settings>,
    ) -> Self {
        let nodes = config.loaded().store().map_or(1, |store| store.nodes());
        let mut subjects = Self { nodes, ..Self::default() };
        for &pattern in Pattern::ALL {
            for name in config.instances(pattern) {
                if let Some(settings) = resolve(pattern, name) {
                    subjects.add(Subject::new(name, settings));
                }
            }
        }
        subjects
    }

    /// Adds an instance, if it is not there, and gives the one that is.
    pub(crate) fn add(&mut self, subject: Subject) -> Rc<Subject> {
        let key = (subject.settings.pattern(), canonical(&subject.name));
        Rc::clone(self.all.entry(key).or_insert_with(|| Rc::new(subject)))
    }

    pub(crate) fn join(&mut self, together: Together) {
        self.together.push(together);
    }

    /// Takes instances of one name for what protects one call, if `is_free` says so of each.
    pub(crate) fn join_equal_names(&mut self, is_free: impl Fn(&(Pattern, String)) -> bool) {
        let mut by_name: BTreeMap<&str, Vec<Rc<Subject>>> = BTreeMap::new();
        for (key, subject) in self.all.iter().filter(|(key, _)| is_free(key)) {
            by_name.entry(&key.1).or_default().push(Rc::clone(subject));
        }
        let groups = by_name
            .into_values()
            .filter(|members| members.len() > 1)
            .map(|members| Together::new(format!("the name '{}'", members[0].name), 1, members));
        self.together.extend(groups);
    }

    /// Every instance of a pattern that acts.
    pub(super) fn instances(&self, pattern: Pattern) -> impl Iterator<Item = &Subject> {
        let all = self.all.iter().filter(move |((of, _), _)| *of == pattern);
        all.map(|(_, subject)| &**subject).filter(|subject| subject.settings.bool("enabled"))
    }

    pub(super) fn nodes(&self) -> u32 {
        self.nodes
    }

    pub(super) fn together(&self) -> impl Iterator<Item = &Together> {
        self.together.iter()
    }
}
