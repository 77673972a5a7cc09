//! What can be found wrong before the first call: the configuration against itself, against the
//! error kinds that the program declares, and against its annotated functions.

use std::collections::{BTreeMap, HashSet};

use resilience_settings::{Pattern, canonical};

use super::{
    call_site::{self, InlineValue, LayerSpec, SiteSpec},
    in_force::InForce,
    resolve, store,
};
use crate::{
    config::{
        Config, ConfigError, Finding, Hints, Inline, Problem, Settings, Severity, Subject,
        Subjects, Together, contradictions, findings as rules, instance_path, question,
    },
    kind,
};

/// For whose functions `strict: true` turns warnings into errors.
#[derive(Debug)]
pub(super) enum Strict {
    /// The functions of the package that this source file belongs to.
    CrateAround(&'static str),
    /// The functions of the packages of these names.
    Crates(Vec<String>),
}

impl Strict {
    fn covers(&self, site: &SiteSpec) -> bool {
        match self {
            Strict::CrateAround(file) => package_root(file) == package_root(site.file),
            Strict::Crates(names) => {
                names.iter().any(|name| canonical(name) == canonical(site.krate))
            }
        }
    }
}

/// The folder of the package that a source file belongs to, as far as the path tells: what comes
/// before the last `src`, or before the last of `tests`, `examples` and `benches` without a `src`.
fn package_root(file: &str) -> &str {
    let parts = || {
        file.split_inclusive(['/', '\\']).scan(0, |start, part| {
            let at = *start;
            *start += part.len();
            Some((at, part.trim_end_matches(['/', '\\'])))
        })
    };
    let last = |names: &'static [&'static str]| parts().filter(|(_, p)| names.contains(p)).last();
    let (end, _) =
        last(&["src"]).or_else(|| last(&["tests", "examples", "benches"])).unwrap_or((0, ""));
    &file[..end]
}

/// Something questionable.
#[derive(Debug)]
pub(super) struct Warning {
    pub(super) finding: Finding,
    /// The instance it is about, where that is to be said once per registry.
    pub(super) once: Option<(Pattern, String)>,
    /// What makes it settled, where something does.
    pub(super) until: Option<Until>,
}

/// What settles a warning.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Until {
    /// The program looks an instance up by its name.
    LookedUp(Pattern, String),
    /// The program looks a retry budget up by its name.
    BudgetLookedUp(String),
    /// The configuration's switch of a pattern counts.
    NotOverridden(Pattern),
    /// There is a store.
    StoreOpened,
}

impl Warning {
    /// What is questionable until something settles it.
    pub(super) fn until(code: &'static str, text: String, until: Until) -> Self {
        let finding = Finding::new(code, Severity::Warning, text);
        Self { finding, once: None, until: Some(until) }
    }
}

impl From<Finding> for Warning {
    fn from(finding: Finding) -> Self {
        Self { finding, once: None, until: None }
    }
}

/// What came of settings that cannot be had.
impl From<String> for Warning {
    fn from(text: String) -> Self {
        Finding::new("works_on_defaults", Severity::Warning, text).into()
    }
}

/// Collects what is wrong and what is questionable.
struct Findings {
    problems: Vec<Problem>,
    warnings: Vec<Warning>,
    hints: Hints,
    /// The error kinds that the program declares.
    declared_kinds: HashSet<&'static str>,
}

impl Findings {
    fn new() -> Self {
        Self {
            problems: Vec::new(),
            warnings: Vec::new(),
            hints: Hints::default(),
            declared_kinds: kind::declared().collect(),
        }
    }

    /// A problem under `strict`, else a warning.
    fn strict(&mut self, strict: bool, code: &'static str, problem: Problem) {
        if strict {
            self.problems.push(problem);
        } else {
            self.warnings.push(Finding::of(code, Severity::Warning, problem).into());
        }
    }

    /// What the rules about settings find: never more than warnings.
    fn questionable(&mut self, subjects: &Subjects) {
        self.warnings.extend(rules::of(subjects).into_iter().map(Warning::from));
    }

    fn finish(self) -> Result<Vec<Warning>, ConfigError> {
        if self.problems.is_empty() {
            Ok(self.warnings)
        } else {
            Err(ConfigError::new(self.problems))
        }
    }
}

/// Checks a configuration by itself; gives the warnings.
pub(super) fn of_config(config: &Config) -> Result<Vec<Warning>, ConfigError> {
    let mut findings = Findings::new();
    config_alone(config, &mut findings);
    findings.questionable(&Subjects::of(config));
    findings.finish()
}

/// Checks a configuration against the whole program; gives the warnings.
pub(super) fn at_start(config: &Config, strict: &Strict) -> Result<Vec<Warning>, ConfigError> {
    let mut findings = Findings::new();
    config_alone(config, &mut findings);
    let sites: Vec<_> = call_site::sites().collect();
    inline_settings(config, &sites, &mut findings);
    omitted_names(&sites, &mut findings);
    kinds_of_sites(config, &sites, &mut findings);
    for site in &sites {
        let strict = config.is_strict() && strict.covers(site);
        for layer in site.layers {
            if let Some(problem) = other_bulkhead(config, site, layer) {
                findings.problems.push(problem);
            } else if let Some(undeclared) = undeclared_at(config, site, layer) {
                if strict {
                    findings.problems.push(undeclared.into_problem());
                } else {
                    findings.warnings.push(undeclared.into());
                }
            }
            if let Some(problem) = runs_on_without_detach(config, site, layer) {
                findings.strict(strict, "runs_on_without_detach", problem);
            }
        }
        if tells_no_deadline(config, site) {
            let text = format!(
                "{site} has `deadline` and no end to tell: add #[time_limiter] or a `total_timeout` \
                 to its retry"
            );
            findings.warnings.push(Finding::new("no_deadline", Severity::Warning, text).into());
        }
    }
    findings.questionable(&subjects(config, &sites));
    unused(config, &sites, &mut findings);
    findings.finish()
}

fn config_alone(config: &Config, findings: &mut Findings) {
    findings.warnings.extend(config.warnings_found().map(Warning::from));
    findings.problems.extend(store::problems(config));
    kinds_of_config(config, findings);
}

/// What there is in the program: what the configuration declares, what attributes name, and what
/// protects one call. Instances that no attribute names are taken to belong together by their names.
fn subjects(config: &Config, sites: &[&'static SiteSpec]) -> Subjects {
    let mut subjects =
        Subjects::declared(config, |pattern, name| resolve(config, pattern, name).ok());
    let mut named = HashSet::new();
    for site in sites {
        let members = site.layers.iter().filter_map(|layer| {
            let (pattern, name) = (layer.pattern, layer.name);
            named.insert((pattern, canonical(name)));
            Some(subjects.add(Subject::new(name, resolve(config, pattern, name).ok()?)))
        });
        let members = members.collect();
        subjects.join(Together::new(site.to_string(), site.permits, members));
    }
    subjects.join_equal_names(|instance| !named.contains(instance));
    subjects
}

/// Error kinds that no code declares, in what the configuration says: such an entry never matches.
fn kinds_of_config(config: &Config, findings: &mut Findings) {
    for pattern in [Pattern::CircuitBreaker, Pattern::Retry] {
        for name in config.instances(pattern) {
            kinds_of_instance(config, pattern, name, findings);
        }
        // Undeclared instances run on `configs.default`.
        if let Ok(settings) = config.loaded().resolve(pattern, "", &Inline::default()) {
            kinds(&format!("{pattern}.configs.default"), &settings, config.is_strict(), findings);
        }
    }
}

/// The same in inline settings of instances that the configuration does not declare.
fn kinds_of_sites(config: &Config, sites: &[&'static SiteSpec], findings: &mut Findings) {
    let mut seen = HashSet::new();
    for layer in sites.iter().flat_map(|site| site.layers).filter(|layer| layer.is_inline()) {
        let (pattern, name) = (layer.pattern, layer.name);
        if !config.declares(pattern, name) && seen.insert((pattern, canonical(name))) {
            kinds_of_instance(config, pattern, name, findings);
        }
    }
}

fn kinds_of_instance(config: &Config, pattern: Pattern, name: &str, findings: &mut Findings) {
    if let Ok(settings) = resolve(config, pattern, name) {
        let path = instance_path(pattern, name);
        kinds(&path, &settings, config.is_strict(), findings);
    }
}

fn kinds(path: &str, settings: &Settings, strict: bool, findings: &mut Findings) {
    for key in ["record_errors", "retry_errors", "ignore_errors"] {
        if settings.pattern().key(key).is_some() {
            list(path, settings, key, strict, findings);
        }
    }
}

fn list(path: &str, settings: &Settings, key: &str, strict: bool, findings: &mut Findings) {
    let kinds = settings.kinds(key);
    let declared = &findings.declared_kinds;
    let unknown: Vec<_> = kinds.iter().filter(|kind| !declared.contains(kind.as_str())).collect();
    let at = |problem: Problem| {
        let problem = problem.path(format!("{path}.{key}"));
        match settings.origin(key).place() {
            Some(place) => problem.place(place),
            None => problem,
        }
    };
    if key == "record_errors" && !kinds.is_empty() && unknown.len() == kinds.len() {
        findings.problems.push(at(Problem::new(
            "no linked error type declares any of these kinds, so the breaker could never open; \
             derive `ErrorKind` for the errors that are meant",
        )
        .value(kinds.join(", "))));
        return;
    }
    for kind in unknown {
        let remedy = if kind.contains('.') {
            "; say which kind the class is with `error_kind_aliases`"
        } else {
            "; declare it with `#[derive(ErrorKind)]` or remove it"
        };
        let hint = findings
            .hints
            .did_you_mean(kind, findings.declared_kinds.iter().copied())
            .unwrap_or_else(|| remedy.to_owned());
        let problem = Problem::new(format!("no linked error type declares this kind{hint}"));
        findings.strict(strict, "unknown_kind", at(problem.value(kind.as_str())));
    }
}

/// Inline settings: they must agree wherever one instance has them, and make sense with the file's.
fn inline_settings(config: &Config, sites: &[&'static SiteSpec], findings: &mut Findings) {
    let mut first: BTreeMap<(Pattern, String), (&SiteSpec, &LayerSpec)> = BTreeMap::new();
    for &site in sites {
        for layer in site.layers.iter().filter(|layer| layer.is_inline()) {
            let (pattern, name) = (layer.pattern, layer.name);
            match first.get(&(pattern, canonical(name))) {
                Some((other_site, other)) if !same_inline(layer, other) => {
                    findings.problems.push(Problem::new(format!(
                        "{site} and {other_site} give {pattern} '{name}' different inline \
                         settings; use two names or declare it in the configuration"
                    )));
                }
                Some(_) => {}
                None => {
                    first.insert((pattern, canonical(name)), (site, layer));
                    match config.loaded().resolve(pattern, name, &layer.to_inline(site)) {
                        Ok(settings) => {
                            findings.problems.extend(undeclared_budget(config, site, &settings));
                            findings.problems.extend(
                                contradictions(&settings)
                                    .into_iter()
                                    .chain(store::of_attribute(config, &settings))
                                    .map(|problem| problem.place(site.to_string())),
                            );
                        }
                        Err(error) => findings.problems.extend(error.problems().iter().cloned()),
                    }
                }
            }
        }
    }
}

/// An attribute that names a budget which the configuration does not declare. Where there is no
/// configuration, there is nothing to declare it in.
fn undeclared_budget(config: &Config, site: &SiteSpec, settings: &Settings) -> Option<Problem> {
    if settings.pattern() != Pattern::Retry || !config.loaded().has_source() {
        return None;
    }
    let name = settings.optional_word("budget")?;
    if config.loaded().declared_budget(name).is_some() {
        return None;
    }
    let message = config.loaded().unknown_budget(name, &Hints::default());
    Some(Problem::new(message).place(site.to_string()).path("budget").value(name))
}

fn same_inline(a: &LayerSpec, b: &LayerSpec) -> bool {
    let covers = |a: &LayerSpec, b: &LayerSpec| a.inline.iter().all(|pair| b.inline.contains(pair));
    a.base_config == b.base_config && covers(a, b) && covers(b, a)
}

/// Two functions of one name that both left `name` out would share an instance by accident.
fn omitted_names(sites: &[&'static SiteSpec], findings: &mut Findings) {
    let mut first: BTreeMap<(Pattern, String), &SiteSpec> = BTreeMap::new();
    for &site in sites {
        for layer in site.layers.iter().filter(|layer| !layer.named) {
            let (pattern, name) = (layer.pattern, layer.name);
            if let Some(other) = first.insert((pattern, canonical(name)), site) {
                let attribute = pattern.attribute();
                findings.problems.push(Problem::new(format!(
                    "{site} and {other} both leave out the name of #[{attribute}] and would share \
                     the instance '{name}'; write `name = \"…\"` at each"
                )));
            }
        }
    }
}

/// Where a function uses an instance that nobody declares, if that is so.
fn undeclared_at(config: &Config, site: &SiteSpec, layer: &LayerSpec) -> Option<Undeclared> {
    let by = format!("{site} uses");
    (!layer.is_inline()).then(|| Undeclared::find(config, layer.pattern, layer.name, &by)).flatten()
}

/// The use of an instance that the configuration does not declare.
struct Undeclared {
    pattern: Pattern,
    name: String,
    /// Who uses what.
    text: String,
    /// What may have been meant.
    hint: String,
}

impl Undeclared {
    /// `None` when it is declared, or when there is no configuration to declare it in.
    fn find(config: &Config, pattern: Pattern, name: &str, by: &str) -> Option<Self> {
        if !config.loaded().has_source() || config.declares(pattern, name) {
            return None;
        }
        let hint = config
            .nearest_declared(pattern, name)
            .map(|near| question(format_args!("'{near}'")))
            .unwrap_or_default();
        let text = format!("{by} {pattern} '{name}', which the configuration does not declare");
        Some(Self { pattern, name: canonical(name), text, hint })
    }

    fn into_problem(self) -> Problem {
        let Self { pattern, text, hint, .. } = self;
        Problem::new(format!("{text}: `strict` wants it under {pattern}.instances{hint}"))
    }
}

impl From<Undeclared> for Warning {
    fn from(undeclared: Undeclared) -> Self {
        let Undeclared { pattern, name, text, hint } = undeclared;
        let text = format!("{text}: it works on defaults{hint}");
        let finding = Finding::new("undeclared", Severity::Warning, text);
        Self { finding, once: Some((pattern, name)), until: None }
    }
}

/// What to say when a function uses an instance that nobody declares.
pub(super) fn undeclared(config: &Config, site: &SiteSpec, layer: &LayerSpec) -> Option<Warning> {
    undeclared_at(config, site, layer).map(Warning::from)
}

/// What to say when a program looks up an instance that nobody declares and no attribute names.
pub(super) fn looked_up(config: &Config, pattern: Pattern, name: &str) -> Option<Warning> {
    Undeclared::find(config, pattern, name, "the program looks up").map(Warning::from)
}

/// What to say where a pattern was switched by code, and the configuration says the opposite.
pub(super) fn overridden(in_force: &InForce) -> impl Iterator<Item = Warning> {
    Pattern::ALL.iter().copied().filter_map(|pattern| {
        let (read, origin) = in_force.overridden(pattern)?;
        let place = origin.place().unwrap_or_else(|| origin.to_string());
        let text = format!(
            "{pattern}.enabled: {read} ({place}) has no effect, because the program has said \
             `set_enabled(Pattern::{pattern:?}, {})`; `clear_enabled` gives it back to the \
             configuration",
            !read
        );
        Some(Warning::until("overridden", text, Until::NotOverridden(pattern)))
    })
}

/// `#[bulkhead]` and its section must agree on the type.
fn other_bulkhead(config: &Config, site: &SiteSpec, layer: &LayerSpec) -> Option<Problem> {
    let (pattern, name) = (layer.pattern, layer.name);
    let (other, remedy) = config.loaded().other_bulkhead(pattern, name)?;
    Some(Problem::new(format!(
        "{site} uses '{name}' as {pattern}, but it is declared under {other}; {remedy}"
    )))
}

/// A future that is not `detach` is always cancelled, whatever the configuration says.
fn runs_on_without_detach(config: &Config, site: &SiteSpec, layer: &LayerSpec) -> Option<Problem> {
    if layer.pattern != Pattern::TimeLimiter || site.detach {
        return None;
    }
    let settings = resolve(config, layer.pattern, layer.name).ok()?;
    if settings.bool("cancel_running_future") {
        return None;
    }
    let path = format!("{}.cancel_running_future", instance_path(layer.pattern, layer.name));
    let message = format!(
        "{site} is cancelled when it times out all the same; write \
         `#[time_limiter(…, detach)]` there if it is to run on"
    );
    Some(Problem::new(message).path(path).value("false"))
}

/// A function that would tell calls further down when its time is over, and has no such time.
fn tells_no_deadline(config: &Config, site: &SiteSpec) -> bool {
    site.deadline
        && site.layers.iter().all(|layer| match layer.pattern {
            Pattern::TimeLimiter => false,
            Pattern::Retry => resolve(config, layer.pattern, layer.name)
                .is_ok_and(|settings| settings.optional_duration("total_timeout").is_none()),
            _ => true,
        })
}

/// Instances and budgets that nobody uses: most often a misspelt name. It is settled once the program
/// looks the name up; one without annotations does so with all of its instances.
fn unused(config: &Config, sites: &[&'static SiteSpec], findings: &mut Findings) {
    if sites.is_empty() {
        return;
    }
    let used: HashSet<(Pattern, String)> = sites
        .iter()
        .flat_map(|site| site.layers)
        .map(|layer| (layer.pattern, canonical(layer.name)))
        .collect();
    for &pattern in Pattern::ALL {
        for name in config.instances(pattern) {
            if !used.contains(&(pattern, canonical(name))) {
                let text = format!(
                    "{pattern} '{name}' is declared, but no annotated function uses it; is it \
                     looked up by name?"
                );
                let until = Until::LookedUp(pattern, name.to_owned());
                findings.warnings.push(Warning::until("unused", text, until));
            }
        }
    }
    let inline = sites.iter().flat_map(|site| site.layers).flat_map(|layer| layer.inline);
    let inline: HashSet<String> = inline
        .filter_map(|setting| match setting {
            ("budget", InlineValue::Word(name)) => Some(canonical(name)),
            _ => None,
        })
        .collect();
    for name in config.retry_budgets() {
        if !config.loaded().spends_budget(name) && !inline.contains(&canonical(name)) {
            let text = format!(
                "retry budget '{name}' is declared, but no retry names it; is it looked up by name?"
            );
            let until = Until::BudgetLookedUp(name.to_owned());
            findings.warnings.push(Warning::until("unused", text, until));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_one_package_have_one_root() {
        assert_eq!(package_root("examples/src/order/http.rs"), "examples/");
        assert_eq!(package_root("tests/tests/macros.rs"), "tests/");
        assert_eq!(package_root("resilience/tests/init.rs"), "resilience/");
        assert_eq!(package_root("/home/me/src/app/src/main.rs"), "/home/me/src/app/");
        assert_eq!(package_root("src/main.rs"), "");
    }
}
