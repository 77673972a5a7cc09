use std::{env, ffi::OsString, fmt};

use resilience_settings::{Pattern, Value, check_name};

#[cfg(feature = "files")]
use crate::Content;
use crate::{
    ConfigError, Inline, Loaded,
    address::{Address, locate},
    application::Found,
    bases::settle_bases,
    budgets::check_budgets,
    complaints::Complaints,
    contradictions,
    environment::{self, Variable},
    key_path::KeyPath,
    property::{Leaf, Property},
    reader::{Reader, read_aliases},
    source::{Files, Source},
    store::without_store,
    tree::Tree,
    value::Kinds,
};
#[cfg(feature = "files")]
use crate::{
    file::{self, Format, Input},
    source::Spot,
};

/// Gathers the sources of a load; nothing is read before [`load`](Loader::load).
///
/// Later files win over earlier ones, value by value; [`set`](Loader::set) wins over files and the
/// environment over both.
#[derive(Clone, Default)]
pub struct Loader {
    #[cfg(feature = "files")]
    inputs: Vec<Input>,
    #[cfg(feature = "files")]
    profiles: Vec<String>,
    #[cfg(feature = "files")]
    ahead_of_start: bool,
    without_env: bool,
    variables: Option<Vec<(OsString, OsString)>>,
    values: Vec<(String, String)>,
    strict: Option<bool>,
    application: Option<String>,
}

impl Loader {
    /// Starts without any source but the environment.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a file, read in the format that its extension names; later ones win. It must be a regular
    /// file, or a link to one: no pipe or device.
    #[cfg(feature = "files")]
    pub fn file(&mut self, path: impl AsRef<std::path::Path>) {
        self.inputs.push(Input::Path(path.as_ref().to_owned()));
    }

    /// The files, in the order in which they were added.
    #[cfg(feature = "files")]
    pub fn files(&self) -> impl Iterator<Item = &std::path::Path> {
        self.inputs.iter().filter_map(Input::path)
    }

    /// Reads the files, in the same order.
    #[cfg(feature = "files")]
    pub fn read(&self) -> Vec<Content> {
        self.files().map(file::read).collect()
    }

    /// The same with files that were read before, so that they cannot change between two looks.
    #[cfg(feature = "files")]
    #[must_use]
    pub fn with_contents(&self, contents: &[Content]) -> Self {
        let mut loader = self.clone();
        let files = loader.inputs.iter_mut().filter(|input| input.path().is_some());
        for (input, content) in files.zip(contents) {
            if let Some(path) = input.path() {
                *input = Input::Read(path.to_owned(), content.clone());
            }
        }
        loader
    }

    /// Adds a text as if it were a file; errors name it `<text>`.
    #[cfg(feature = "files")]
    pub fn text(&mut self, text: impl Into<String>, format: Format) {
        self.inputs.push(Input::Text(text.into(), format));
    }

    /// Makes a profile active for documents with `spring.config.activate.on-profile`.
    ///
    /// Without any call, the profiles come from `RESILIENCE_PROFILES_ACTIVE`, else
    /// `SPRING_PROFILES_ACTIVE`, else from `spring.profiles.active` in the files.
    #[cfg(feature = "files")]
    pub fn profile(&mut self, name: impl Into<String>) {
        self.profiles.push(name.into());
    }

    /// Says whether the program is yet to start, in an environment and under profiles that nobody knows
    /// here; `false` unless set.
    ///
    /// A value is then left out, instead of refused, where a placeholder in it has none and no default. Its
    /// entry is declared all the same; whether the values of that entry, and of those that inherit them, fit
    /// together is left open. Documents of profiles that are not active give their entries' names.
    #[cfg(feature = "files")]
    pub fn ahead_of_start(&mut self, ahead: bool) {
        self.ahead_of_start = ahead;
    }

    /// Says whether the environment is read, for settings and for placeholders; `true` unless set.
    pub fn env(&mut self, read: bool) {
        self.without_env = !read;
    }

    /// Takes these variables for the environment instead of the process's.
    pub fn vars<K, V>(&mut self, variables: impl IntoIterator<Item = (K, V)>)
    where
        K: Into<OsString>,
        V: Into<OsString>,
    {
        let variables = variables.into_iter().map(|(name, value)| (name.into(), value.into()));
        self.variables = Some(variables.collect());
    }

    /// Sets one value by its key path, such as `retry.instances.payment.max_attempts`; the instance
    /// is declared if it was not. The last value for a path counts.
    pub fn set(&mut self, path: impl Into<String>, value: impl Into<String>) {
        let path = path.into();
        self.values.retain(|(known, _)| *known != path);
        self.values.push((path, value.into()));
    }

    /// Says whether undeclared names and kinds stop the start; goes before what files say.
    pub fn strict(&mut self, strict: bool) {
        self.strict = Some(strict);
    }

    /// Names the program in its metrics, in 1 to 200 characters without control characters; goes before
    /// what the environment and files say.
    pub fn application(&mut self, name: impl Into<String>) {
        self.application = Some(name.into());
    }

    /// Reads and checks everything.
    ///
    /// # Errors
    ///
    /// Every problem of every source at once, by source and line.
    pub fn load(self) -> Result<Loaded, ConfigError> {
        let mut report = Complaints::default();
        let variables = environment::with_names(self.variables(), &mut report);
        let Files { mut documents, inactive, imported, application } =
            self.read_files(&variables, &mut report);
        let last = Source::code(usize::MAX - 1);
        let from_code = self.application.as_deref().map(|name| Found::in_code(name, &last));
        let in_environment = Found::in_environment(&variables, &mut report);
        let names = [from_code, in_environment].map(|found| found?.checked(&mut report));
        let application = names.into_iter().flatten().next().or(application);
        documents.push((last, self.values.iter().map(in_code).collect()));

        let mut kinds = Kinds::default();
        for (_, properties) in &documents {
            read_aliases(properties, &mut kinds);
        }
        let mut tree = Tree::default();
        let mut strict = false;
        let mut reader =
            Reader { tree: &mut tree, strict: &mut strict, kinds: &kinds, report: &mut report };
        for (source, properties) in &documents {
            reader.read(source, properties);
        }
        if let Some(in_code) = self.strict {
            *reader.strict = in_code;
        }
        environment::read(&mut reader, &variables);
        settle_bases(&mut tree, &mut report);
        check_budgets(&tree, &mut report);
        if let Some(file) = imported
            && !report.has_problems()
            && let Some(warning) = differences(&tree, &file)
        {
            report.warn(warning);
        }
        let other_profiles = declared(&inactive);
        let config = Loaded::new(tree, strict, Vec::new())
            .with_application(application)
            .with_other_profiles(other_profiles);
        // The environment of a program may declare the store.
        let lacks_store = config.store().is_none() && !self.is_ahead_of_start();
        let of_instances = config.check_instances(|settings| {
            let without_store = without_store(settings).filter(|_| lacks_store);
            contradictions(settings).into_iter().chain(without_store).collect()
        });
        let of_store = if self.is_ahead_of_start() { Vec::new() } else { config.check_store() };
        for problem in of_instances.into_iter().chain(of_store) {
            report.contradiction(problem);
        }
        Ok(config.with_warnings(report.finish()?))
    }

    #[cfg(feature = "files")]
    fn read_files(&self, variables: &[Variable], report: &mut Complaints) -> Files {
        let profiles = self.active_profiles(variables, report);
        file::load(&self.inputs, profiles, variables, self.ahead_of_start, report)
    }

    #[cfg(not(feature = "files"))]
    #[allow(clippy::unused_self)] // the same signature as with files
    fn read_files(&self, _variables: &[Variable], _report: &mut Complaints) -> Files {
        Files::default()
    }

    /// Whether the program runs at another place, with another environment.
    #[cfg(feature = "files")]
    fn is_ahead_of_start(&self) -> bool {
        self.ahead_of_start
    }

    #[cfg(not(feature = "files"))]
    #[allow(clippy::unused_self)] // the same signature as with files
    fn is_ahead_of_start(&self) -> bool {
        false
    }

    fn variables(&self) -> Vec<(OsString, OsString)> {
        match &self.variables {
            _ if self.without_env => Vec::new(),
            Some(variables) => variables.clone(),
            None => {
                let mut variables: Vec<_> = env::vars_os().collect();
                // The process's order is arbitrary; problems and warnings should not be.
                variables.sort();
                variables
            }
        }
    }

    /// The profiles of the first of argument and variables that names any.
    #[cfg(feature = "files")]
    fn active_profiles(
        &self,
        variables: &[Variable],
        report: &mut Complaints,
    ) -> Option<Vec<String>> {
        if !self.profiles.is_empty() {
            return Some(self.profiles.clone());
        }
        [environment::PROFILES, environment::SPRING_PROFILES].into_iter().find_map(|wanted| {
            let variable = variables.iter().find(|variable| variable.name == wanted)?;
            let value = variable.text().map_err(|problem| {
                report.problem_at(&Spot::environment(wanted), problem);
            });
            let names = file::profile_names(value.ok()?);
            if names.is_empty() { None } else { Some(names) }
        })
    }
}

/// The entries of documents whose values do not count. What is wrong in them is told where they do.
fn declared(documents: &[(Source, Vec<Property>)]) -> Tree {
    let mut tree = Tree::default();
    for (source, property) in
        documents.iter().flat_map(|(source, of)| of.iter().map(move |p| (source, p)))
    {
        let entry = match locate(property.path.segments(), &property.leaf) {
            Ok(Address::Entry(entry)) => entry,
            Ok(Address::Key(key)) => key.entry,
            _ => continue,
        };
        if check_name(&entry.name).is_ok() {
            let entries = tree.section_mut(entry.pattern).group_mut(entry.group);
            entries.declare(&entry.name, || source.spot(entry.line));
        }
    }
    tree
}

fn in_code((path, value): &(String, String)) -> Property {
    Property { path: KeyPath::of(path), line: None, leaf: Leaf::Text(value.as_str().into()) }
}

/// What Resilience4j would have made of its own file, where that differs.
fn differences(tree: &Tree, file: &str) -> Option<String> {
    const SHOWN: usize = 12;
    let section = tree.section(Pattern::CircuitBreaker)?;
    let config = Loaded::new(tree.clone(), false, Vec::new());
    let mut found = Vec::new();
    for entry in section.instances.iter() {
        let ours = config.resolve(Pattern::CircuitBreaker, &entry.name, &Inline::default());
        let Ok(ours) = ours else { continue };
        let theirs = Loaded::as_resilience4j(section, entry);
        let show =
            |value: Option<&Value>| value.map_or_else(|| "unset".to_owned(), ToString::to_string);
        for (key, here, there) in ours.differences(&theirs) {
            let (here, there) = (show(here), show(there));
            found.push(format!("{}.{key} is {here}, there {there}", entry.name));
        }
    }
    if found.is_empty() {
        return None;
    }
    if found.len() > SHOWN {
        let more = found.len() - SHOWN;
        found.truncate(SHOWN);
        found.push(format!("{more} more"));
    }
    Some(format!(
        "{file}: circuit breakers differ from Resilience4j, where a named base does not inherit \
         `default` and an instance named like a config takes it for its base: {}",
        found.join("; ")
    ))
}

/// Shows the sources, and no values, as the type that users see around it.
impl fmt::Debug for Loader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let paths: Vec<&str> = self.values.iter().map(|(path, _)| path.as_str()).collect();
        let mut out = f.debug_struct("ConfigBuilder");
        #[cfg(feature = "files")]
        out.field("inputs", &self.inputs.len()).field("profiles", &self.profiles);
        out.field("env", &!self.without_env).field("set", &paths).finish_non_exhaustive()
    }
}
