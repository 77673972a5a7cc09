use std::{collections::HashSet, fmt, sync::Arc};

use resilience_settings::{Pattern, Value};

use crate::{
    Inline, Origin, Problem, Settings,
    bases::{default_of, is_known},
    hint::Hints,
    tree::{Entry, Group, Section, Tree, path_of},
};

/// What a load has read and checked: what is declared, with the origin of every value.
///
/// The default one is empty. Clones share their content.
#[derive(Clone, Default)]
pub struct Loaded {
    inner: Arc<Inner>,
}

#[derive(Clone, Default)]
struct Inner {
    tree: Tree,
    strict: bool,
    warnings: Vec<String>,
    application: Option<Arc<str>>,
    /// What documents of profiles that are not active declare; empty unless it was asked for.
    other_profiles: Tree,
    /// Whether somebody loaded it, be it from an empty file.
    has_source: bool,
}

impl Loaded {
    pub(crate) fn new(tree: Tree, strict: bool, warnings: Vec<String>) -> Self {
        Self {
            inner: Arc::new(Inner { tree, strict, warnings, has_source: true, ..Inner::default() }),
        }
    }

    pub(crate) fn with_warnings(self, warnings: Vec<String>) -> Self {
        let mut inner = Arc::unwrap_or_clone(self.inner);
        inner.warnings = warnings;
        Self { inner: Arc::new(inner) }
    }

    pub(crate) fn with_application(self, name: Option<Arc<str>>) -> Self {
        let mut inner = Arc::unwrap_or_clone(self.inner);
        inner.application = name;
        Self { inner: Arc::new(inner) }
    }

    pub(crate) fn with_other_profiles(self, names: Tree) -> Self {
        let mut inner = Arc::unwrap_or_clone(self.inner);
        inner.other_profiles = names;
        Self { inner: Arc::new(inner) }
    }

    /// What was read and will surprise: settings without effect, old keys, unknown variables.
    pub fn warnings(&self) -> &[String] {
        &self.inner.warnings
    }

    /// Whether names and kinds that are used but not declared stop the start.
    pub fn is_strict(&self) -> bool {
        self.inner.strict
    }

    /// What the program is called in its metrics, if a source says so.
    pub fn application(&self) -> Option<&str> {
        self.inner.application.as_deref()
    }

    /// The same, to be shared.
    pub fn application_name(&self) -> Option<&Arc<str>> {
        self.inner.application.as_ref()
    }

    /// Whether there is a place to declare instances in: false for the default configuration only.
    pub fn has_source(&self) -> bool {
        self.inner.has_source
    }

    /// Whether both say the same in the same places.
    pub fn is_same(&self, other: &Self) -> bool {
        self.is_strict() == other.is_strict()
            && self.application() == other.application()
            && self.tree() == other.tree()
    }

    /// The same with the switch of a whole pattern set in code, in the place of the one that was read.
    #[must_use]
    pub fn with_switch(&self, pattern: Pattern, on: bool) -> Self {
        let mut inner = (*self.inner).clone();
        let section = inner.tree.section_mut(pattern);
        section.overridden = section.enabled.as_ref().is_some_and(|(read, _)| *read != on);
        section.enabled = Some((on, Origin::Code));
        Self { inner: Arc::new(inner) }
    }

    /// The switch of a whole pattern, where one was read, and where it came from.
    pub fn switch(&self, pattern: Pattern) -> Option<&(bool, Origin)> {
        self.tree().section(pattern)?.enabled.as_ref()
    }

    /// The declared instances of a pattern, as they are spelled, in the order of declaration.
    pub fn instances(&self, pattern: Pattern) -> impl Iterator<Item = &str> {
        self.entries(pattern).map(|entry| entry.name.as_str())
    }

    /// Whether an instance is declared under this name; case and separators do not count.
    pub fn declares(&self, pattern: Pattern, name: &str) -> bool {
        self.declared_name(pattern, name).is_some()
    }

    /// The same, with what the documents of other profiles declare where that was looked at.
    pub fn names_of_all_profiles(&self, pattern: Pattern) -> impl Iterator<Item = &str> {
        let others = self.other_profiles().section(pattern).into_iter();
        let others = others.flat_map(|section| section.instances.names());
        self.instances(pattern).chain(others.filter(move |name| !self.declares(pattern, name)))
    }

    /// Whether an instance of this name is among [these](Loaded::names_of_all_profiles).
    pub fn declares_in_a_profile(&self, pattern: Pattern, name: &str) -> bool {
        let others = self.other_profiles().section(pattern);
        self.declares(pattern, name)
            || others.is_some_and(|section| section.instances.get(name).is_some())
    }

    /// The name in its declared spelling.
    pub fn declared_name(&self, pattern: Pattern, name: &str) -> Option<&str> {
        let entry = self.tree().section(pattern)?.instances.get(name)?;
        Some(&entry.name)
    }

    /// The declared name most like `name`, if one is near enough to be what was meant.
    pub fn nearest_declared(&self, pattern: Pattern, name: &str) -> Option<&str> {
        Hints::default().nearest(name, self.names_of_all_profiles(pattern))
    }

    /// The other kind of bulkhead where an instance is declared as that alone, and what to do about it.
    pub fn other_bulkhead(&self, pattern: Pattern, name: &str) -> Option<(Pattern, String)> {
        let (other, write) = match pattern {
            Pattern::Bulkhead => (Pattern::ThreadPoolBulkhead, "thread_pool"),
            Pattern::ThreadPoolBulkhead => (Pattern::Bulkhead, "semaphore"),
            _ => return None,
        };
        let declares = |pattern| self.declares_in_a_profile(pattern, name);
        let remedy = format!("write `type = \"{write}\"` at the attribute or move the entry");
        (declares(other) && !declares(pattern)).then_some((other, remedy))
    }

    /// Every setting of every declared instance, retry budget and of the store: its key path, value and origin.
    ///
    /// Arguments of attributes are not in it: they belong to the code, not to the configuration.
    pub fn effective(&self) -> Vec<(String, Value, Origin)> {
        let mut effective = Vec::new();
        for &pattern in Pattern::ALL {
            for entry in self.entries(pattern) {
                let settings = self.resolved(pattern, &entry.name);
                effective.extend(settings.under(&instance_path(pattern, &entry.name)));
            }
        }
        for budget in self.retry_budgets() {
            effective.extend(self.effective_budget(budget));
        }
        effective.extend(self.effective_store());
        effective
    }

    /// Runs a check over the settings of every declared instance, and of `configs.default`, on
    /// which undeclared ones run.
    ///
    /// A problem's path is taken for a key; it is completed with the instance, and the place is
    /// where that key's value was written. What several instances inherit is reported once.
    pub fn check_instances(&self, check: impl Fn(&Settings) -> Vec<Problem>) -> Vec<Problem> {
        let mut problems: Vec<Problem> = Vec::new();
        let mut known = HashSet::new();
        for (pattern, section) in self.tree().patterns() {
            let default = default_of(&section.configs).map(|entry| (Group::Configs, entry));
            let instances = section.instances.iter().map(|entry| (Group::Instances, entry));
            for (group, entry) in default.into_iter().chain(instances) {
                // A base that is not there has its problem already; asking what was meant is dear.
                if entry.base.as_ref().is_some_and(|base| !is_known(&section.configs, &base.name)) {
                    continue;
                }
                if inherits_left_out(section, entry) {
                    continue;
                }
                // Undeclared instances have no name of their own to be found by.
                let name = if group == Group::Configs { "" } else { &entry.name };
                let Ok(settings) = self.resolve(pattern, name, &Inline::default()) else {
                    continue;
                };
                let path = path_of(pattern, group, &entry.name);
                for problem in check(&settings) {
                    let problem = complete(problem, &settings, &path, entry);
                    if known.insert((problem.place.clone(), problem.message.clone())) {
                        problems.push(problem);
                    }
                }
            }
        }
        problems
    }

    /// Everything that is declared.
    pub fn tree(&self) -> &Tree {
        &self.inner.tree
    }

    pub(crate) fn other_profiles(&self) -> &Tree {
        &self.inner.other_profiles
    }

    fn entries(&self, pattern: Pattern) -> impl Iterator<Item = &Entry> {
        self.tree().section(pattern).into_iter().flat_map(|section| section.instances.iter())
    }

    fn resolved(&self, pattern: Pattern, name: &str) -> Settings {
        self.resolve(pattern, name, &Inline::default())
            .expect("without an attribute there is nothing that the load has not checked")
    }
}

/// The key path of an instance, with the brackets that a name with dots needs.
pub fn instance_path(pattern: Pattern, name: &str) -> String {
    path_of(pattern, Group::Instances, name)
}

/// Whether a value of an entry, its own or inherited, is known only where the program runs.
fn inherits_left_out(section: &Section, entry: &Entry) -> bool {
    let base = entry.base.as_ref().and_then(|base| section.configs.get(&base.name));
    let bases = default_of(&section.configs).into_iter().chain(base);
    entry.left_out || bases.into_iter().any(|base| base.whole.left_out)
}

/// Adds place and full path to a problem of one key.
fn complete(mut problem: Problem, settings: &Settings, path: &str, entry: &Entry) -> Problem {
    let origin = match &problem.path {
        Some(key) if settings.pattern().key(key).is_some() => settings.origin(key),
        _ => Origin::Default,
    };
    problem.path = Some(match problem.path {
        Some(key) => format!("{path}.{key}"),
        None => path.to_owned(),
    });
    problem.place.get_or_insert_with(|| match origin {
        Origin::File { .. } | Origin::Environment(_) => origin.place().unwrap_or_default(),
        Origin::Default | Origin::Attribute(_) | Origin::Code => entry.spot.place.clone(),
    });
    problem
}

/// Shows what is declared, and no values, as the type that users see around it.
impl fmt::Debug for Loaded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = f.debug_struct("Config");
        for (pattern, section) in self.tree().patterns() {
            let names: Vec<&str> = section.instances.names().collect();
            out.field(pattern.section(), &names);
        }
        out.field("strict", &self.inner.strict).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    #[cfg(feature = "files")]
    use crate::Format;
    use crate::{Loader, testing::loaded};

    /// Says that fewer than three attempts are too few.
    fn too_few(settings: &Settings) -> Vec<Problem> {
        if settings.pattern() == Pattern::Retry && settings.u32("max_attempts") < 3 {
            vec![Problem::new("too few").path("max_attempts")]
        } else {
            Vec::new()
        }
    }

    fn texts(config: &Loaded) -> Vec<String> {
        config.check_instances(too_few).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_check_of_instances_names_path_and_place() {
        let config = loaded(&[
            ("retry.instances.a.max_attempts", "2"),
            ("retry.instances.b.max_attempts", "3"),
            ("bulkhead.instances.a.max_concurrent_calls", "1"),
        ]);
        assert_eq!(texts(&config), ["code: retry.instances.a.max_attempts: too few"]);
    }

    #[test]
    fn default_is_checked_because_undeclared_instances_run_on_it() {
        let config = loaded(&[("retry.configs.default.max_attempts", "1")]);
        assert_eq!(texts(&config), ["code: retry.configs.default.max_attempts: too few"]);
    }

    #[cfg(feature = "files")]
    #[test]
    fn what_instances_inherit_is_reported_once_where_it_is_written() {
        let text = "retry:\n  configs:\n    low: { max_attempts: 1 }\n  instances:\n    \
                    a: { base_config: low }\n    b: { base_config: low }";
        let mut loader = Loader::new();
        loader.env(false);
        loader.text(text, Format::Yaml);
        let config = loader.load().unwrap();
        assert_eq!(texts(&config), ["<text>:3: retry.instances.a.max_attempts: too few"]);
    }

    #[test]
    fn another_name_of_the_program_is_another_configuration() {
        let named = |name| {
            let mut loader = Loader::new();
            loader.env(false);
            loader.application(name);
            loader.load().unwrap()
        };
        assert!(named("orders").is_same(&named("orders")));
        assert!(!named("orders").is_same(&named("billing")));
    }
}
