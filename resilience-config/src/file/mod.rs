//! Configuration files: from bytes to properties below the root, with profiles chosen and
//! placeholders replaced.

mod node;
mod placeholder;
mod profile;
mod properties;
mod root;
mod toml;
mod yaml;

use std::{
    fmt,
    fs::{self, File},
    io::{self, Read as _},
    path::{Path, PathBuf},
    sync::Arc,
};

use node::{MAX_BYTES, Syntax};
pub use node::{Member, Node};
use placeholder::{Placeholders, Unresolved, folded};
use profile::Active;
pub(super) use profile::names as profile_names;
use resilience_settings::same_name;
use root::Root;

use super::{
    Problem,
    address::is_store,
    application::Found,
    complaints::Complaints,
    environment::Variable,
    key_path::{joined, split_index},
    property::{Leaf, Property, Text, one_line, shorten, shown_key},
    source::{Files, Source},
};

/// The format of a configuration text.
///
/// # Examples
///
/// ```
/// use resilience::config::Format;
///
/// assert_eq!(Format::of_path("conf/application.yml"), Some(Format::Yaml));
/// assert_eq!(Format::of_path("conf/resilience.ini"), None);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// YAML 1.2, with anchors, aliases, merge keys and several documents.
    Yaml,
    /// TOML 1.0.
    Toml,
    /// Java's `.properties`, with `#---` between documents as in Spring.
    Properties,
    /// JSON.
    Json,
}

impl Format {
    /// The format that a file's extension stands for: `yaml`, `yml`, `toml`, `properties`, `json`.
    pub fn of_path(path: impl AsRef<Path>) -> Option<Format> {
        let extension = path.as_ref().extension()?.to_str()?.to_ascii_lowercase();
        Some(match extension.as_str() {
            "yaml" | "yml" => Format::Yaml,
            "toml" => Format::Toml,
            "properties" => Format::Properties,
            "json" => Format::Json,
            _ => return None,
        })
    }

    fn parse(self, text: &str) -> Result<node::Parsed, Syntax> {
        match self {
            Format::Yaml => yaml::parse(text),
            Format::Toml => toml::parse(text),
            Format::Properties => properties::parse(text),
            Format::Json => yaml::parse_json(text),
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Format::Yaml => "YAML",
            Format::Toml => "TOML",
            Format::Properties => "properties",
            Format::Json => "JSON",
        })
    }
}

/// Something to read a configuration from.
#[derive(Debug, Clone)]
pub(super) enum Input {
    Path(PathBuf),
    /// A file that was read before.
    Read(PathBuf, Content),
    Text(String, Format),
}

/// A file's bytes, no more than show that they are too many, or why there are none.
pub type Content = Result<Arc<[u8]>, String>;

impl Input {
    pub(super) fn path(&self) -> Option<&Path> {
        match self {
            Input::Path(path) | Input::Read(path, _) => Some(path),
            Input::Text(..) => None,
        }
    }
}

/// How a text that came without a file is named in errors and origins.
const TEXT_NAME: &str = "<text>";

/// A file that could be parsed.
struct ParsedFile {
    name: Arc<str>,
    source: Source,
    root: Root,
    documents: Vec<Vec<Property>>,
}

/// Reads every input; what is wrong goes to the report.
pub(super) fn load(
    inputs: &[Input],
    profiles: Option<Vec<String>>,
    variables: &[Variable],
    ahead_of_start: bool,
    report: &mut Complaints,
) -> Files {
    let files: Vec<ParsedFile> =
        inputs.iter().enumerate().filter_map(|(rank, input)| parse(input, rank, report)).collect();
    let active = Active::new(profiles.unwrap_or_else(|| profiles_of(&files, variables)));

    let mut applied: Vec<(&ParsedFile, &[Property])> = Vec::new();
    let mut inactive = Vec::new();
    for file in &files {
        for document in &file.documents {
            if is_for_a_cloud(file, document, report) {
                continue;
            }
            if applies(file, document, &active, report) {
                warn_of_imports(file, document, report);
                applied.push((file, document));
            } else if ahead_of_start {
                inactive.push((file.source.clone(), ours(file, document).collect()));
            }
        }
    }
    let mut placeholders = Placeholders::new(variables);
    for property in applied.iter().flat_map(|(_, document)| *document) {
        if let Leaf::Text(text) = &property.leaf {
            placeholders.define(&property.path, Arc::clone(&text.value));
        }
    }
    let name = |(file, document): &(&ParsedFile, &[Property])| {
        application_of(file, document, &placeholders, report)
    };
    let application = applied.iter().rev().find_map(name);
    let documents = applied
        .into_iter()
        .map(|(file, document)| {
            let ours = replaced(file, document, &placeholders, ahead_of_start, report);
            (file.source.clone(), ours)
        })
        .collect();
    let imported = files.iter().find(|file| file.root == Root::Resilience4j);
    let imported = imported.map(|file| Arc::clone(&file.name));
    Files { documents, inactive, imported, application }
}

/// A file as messages name it.
fn shown_path(path: &Path) -> Arc<str> {
    one_line(&path.display().to_string()).into()
}

fn parse(input: &Input, rank: usize, report: &mut Complaints) -> Option<ParsedFile> {
    let name: Arc<str> = match input {
        Input::Path(path) | Input::Read(path, _) => shown_path(path),
        Input::Text(..) => TEXT_NAME.into(),
    };
    let source = Source::file(rank, Arc::clone(&name));
    let parsed = match input {
        Input::Path(path) => parse_file(path, || read(path)),
        Input::Read(path, content) => parse_file(path, || content.clone()),
        Input::Text(text, format) => parse_text(text, *format),
    };
    let mut refuse = |syntax: Syntax| {
        let problem = Problem { path: syntax.path, ..Problem::new(syntax.message) };
        report.problem(&source, syntax.line, problem);
    };
    let (documents, problems) = parsed.map_err(&mut refuse).ok()?;
    problems.into_iter().for_each(&mut refuse);
    let root = Root::find(&documents)
        .map_err(|(line, message)| refuse(Syntax::new(line, message)))
        .ok()?;
    Some(ParsedFile { name, source, root, documents })
}

fn parse_text(text: &str, format: Format) -> Result<node::Parsed, Syntax> {
    if text.len() > MAX_BYTES {
        return Err(Syntax::new(None, format!("larger than {MAX_BYTES} bytes")));
    }
    format.parse(text.strip_prefix('\u{feff}').unwrap_or(text))
}

/// Reads a YAML file of one document that is no configuration, within the same limits.
///
/// # Errors
///
/// What is wrong with it first, with file and line.
pub fn tree(path: &Path) -> Result<Node, Problem> {
    let read_tree = || {
        let bytes =
            read(path).map_err(|why| Syntax::new(None, format!("cannot read it: {why}")))?;
        if bytes.len() > MAX_BYTES {
            return Err(Syntax::new(None, format!("larger than {MAX_BYTES} bytes")));
        }
        let (mut documents, problems) = yaml::trees(&decode(&bytes, Format::Yaml)?)?;
        match (problems.into_iter().next(), documents.len()) {
            (Some(problem), _) => Err(problem),
            (None, 1) => Ok(documents.remove(0)),
            (None, n) => Err(Syntax::new(None, format!("expected one document, not {n}"))),
        }
    };
    read_tree().map_err(|Syntax { line, path: keys, message }| {
        let place = Source::file(0, shown_path(path)).place(line);
        Problem { path: keys, ..Problem::new(message).place(place) }
    })
}

/// Reads a file, no further than shows that it is larger than one may be.
///
/// # Errors
///
/// Why it cannot be read.
pub(super) fn read(path: &Path) -> Content {
    let read = || {
        // To open a pipe waits for whoever writes into it: it is looked at before.
        if !fs::metadata(path)?.is_file() {
            return Err(io::Error::other("it is not a regular file"));
        }
        let mut bytes = Vec::new();
        let limit = MAX_BYTES as u64 + 1;
        File::open(path)?.take(limit).read_to_end(&mut bytes)?;
        Ok(bytes.into())
    };
    read().map_err(|error: io::Error| error.to_string())
}

fn parse_file(path: &Path, read: impl FnOnce() -> Content) -> Result<node::Parsed, Syntax> {
    let format = Format::of_path(path).ok_or_else(|| {
        Syntax::new(
            None,
            "cannot tell the format; the name must end in .yaml, .yml, .toml, .properties or .json",
        )
    })?;
    let bytes =
        read().map_err(|error| Syntax::new(None, format!("cannot read the file: {error}")))?;
    if bytes.len() > MAX_BYTES {
        return Err(Syntax::new(None, format!("larger than {MAX_BYTES} bytes")));
    }
    parse_text(&decode(&bytes, format)?, format)
}

fn decode(bytes: &[u8], format: Format) -> Result<String, Syntax> {
    match str::from_utf8(bytes) {
        Ok(text) => Ok(text.to_owned()),
        // Java writes properties in ISO-8859-1, where every byte is the character of that number.
        Err(_) if format == Format::Properties => {
            Ok(bytes.iter().map(|byte| char::from(*byte)).collect())
        }
        Err(error) => {
            let valid = &bytes[..error.valid_up_to()];
            let line = 1 + String::from_utf8_lossy(valid).matches('\n').count();
            Err(Syntax::new(Some(line), "a byte is not UTF-8"))
        }
    }
}

/// Whether a property, or the list that it is an element of, has one of these names of Spring's.
fn is_named(property: &Property, wanted: &[&str]) -> bool {
    let first = property.path.segments().first();
    first.is_some_and(|first| same_name(&first.text, "spring"))
        && wanted.contains(&split_index(&folded(&property.path)).0)
}

/// The texts of a property in a document, whether it is a scalar, a list or given by index.
fn texts<'a>(document: &'a [Property], wanted: &str) -> Vec<&'a str> {
    let named = document.iter().filter(|property| is_named(property, &[wanted]));
    named
        .flat_map(|property| match &property.leaf {
            Leaf::Text(text) => vec![&*text.value],
            Leaf::List(items) => items.iter().map(|item| &*item.value).collect(),
            Leaf::Empty | Leaf::Nested | Leaf::Elsewhere => Vec::new(),
        })
        .collect()
}

const ON_PROFILE: &str = "spring.config.activate.onprofile";
/// How documents named their profiles before Spring Boot 2.4.
const OLD_ON_PROFILE: &str = "spring.profiles";
const ON_CLOUD: &str = "spring.config.activate.oncloudplatform";
const ACTIVE_PROFILES: &str = "spring.profiles.active";
const IMPORT: &str = "spring.config.import";
const APPLICATION: &str = "spring.application.name";

/// The profiles that the files themselves make active, for want of an argument or a variable.
fn profiles_of(files: &[ParsedFile], variables: &[Variable]) -> Vec<String> {
    let placeholders = Placeholders::new(variables);
    let unconditional = |document: &&Vec<Property>| conditions(document).is_empty();
    let active = files
        .iter()
        .flat_map(|file| file.documents.iter().filter(unconditional))
        .map(|document| texts(document, ACTIVE_PROFILES))
        .rfind(|profiles| !profiles.is_empty());
    active
        .unwrap_or_default()
        .into_iter()
        .filter_map(|text| match placeholders.resolve(text) {
            Ok(None) => Some(text.to_owned()),
            Ok(resolved) => resolved,
            Err(_) => None, // none of our settings: not ours to refuse
        })
        .flat_map(|text| profile::names(&text))
        .collect()
}

fn conditions(document: &[Property]) -> Vec<&str> {
    let mut conditions = texts(document, ON_PROFILE);
    conditions.extend(texts(document, OLD_ON_PROFILE));
    conditions
}

/// Whether a document is for a cloud platform: those are left out, and this says so.
fn is_for_a_cloud(file: &ParsedFile, document: &[Property], report: &mut Complaints) -> bool {
    let platforms = texts(document, ON_CLOUD);
    let Some(platform) = platforms.first() else { return false };
    let line = document.first().and_then(|property| property.line);
    report.warn(format!(
        "{}: a document for the cloud platform `{}` is left out; choose it by a profile instead",
        file.source.place(line),
        shown_key(platform)
    ));
    true
}

/// Whether a document is to be read under the active profiles.
fn applies(
    file: &ParsedFile,
    document: &[Property],
    active: &Active,
    report: &mut Complaints,
) -> bool {
    let conditions = conditions(document);
    if conditions.is_empty() {
        return true;
    }
    match active.matches(conditions.iter().copied()) {
        Ok(applies) => applies,
        Err(message) => {
            let is_condition =
                |property: &&Property| is_named(property, &[ON_PROFILE, OLD_ON_PROFILE]);
            let condition = document.iter().find(is_condition);
            let line = condition.and_then(|property| property.line);
            let problem = Problem::new(message)
                .path("spring.config.activate.on-profile")
                .value(shorten(&conditions.join(",")));
            report.problem(&file.source, line, problem);
            false
        }
    }
}

/// Imports are not followed: what they name may hold settings that would be missed in silence.
fn warn_of_imports(file: &ParsedFile, document: &[Property], report: &mut Complaints) {
    for import in texts(document, IMPORT) {
        report.warn(format!(
            "{}: spring.config.import of `{}` is not followed; give the file to the loader",
            file.name,
            shown_key(import)
        ));
    }
}

/// What a document calls the application. One whose placeholders have no value here names none: it may
/// have one where Spring reads it.
fn application_of(
    file: &ParsedFile,
    document: &[Property],
    placeholders: &Placeholders<'_>,
    report: &mut Complaints,
) -> Option<Arc<str>> {
    let property = document.iter().rfind(|property| is_named(property, &[APPLICATION]))?;
    let Leaf::Text(text) = &property.leaf else { return None };
    let spot = file.source.spot(property.line);
    match placeholders.resolve(&text.value) {
        Ok(resolved) => {
            let text = resolved.as_deref().unwrap_or(&text.value);
            Found { path: APPLICATION, text, spot }.checked(report)
        }
        Err(unresolved) => {
            let message = unresolved.message();
            report.warn(format!("{}: {APPLICATION} is not read: {message}", spot.place));
            None
        }
    }
}

/// The properties of ours in a document, below the root.
fn ours(file: &ParsedFile, document: &[Property]) -> impl Iterator<Item = Property> {
    let is_ours = |property: &&Property| {
        let first = property.path.segments().first();
        first.is_some_and(|first| !file.root.leaves_alone(&first.text))
    };
    let below = |property: &Property| Property {
        path: property.path.without(file.root.length()),
        line: property.line,
        leaf: property.leaf.clone(),
    };
    document.iter().filter(is_ours).map(below)
}

/// The same with placeholders replaced.
fn replaced(
    file: &ParsedFile,
    document: &[Property],
    placeholders: &Placeholders<'_>,
    ahead_of_start: bool,
    report: &mut Complaints,
) -> Vec<Property> {
    let mut replaced = Vec::new();
    for property in ours(file, document) {
        match with_values(&property.leaf, placeholders) {
            Ok(leaf) => replaced.push(Property { leaf, ..property }),
            Err(Unresolved::Unset(_)) if ahead_of_start => {
                replaced.push(Property { leaf: Leaf::Elsewhere, ..property });
            }
            Err(unresolved) => {
                let segments = property.path.segments();
                let mut problem =
                    Problem::new(unresolved.message()).path(shown_key(&joined(segments)));
                // What is left of it may be a password.
                let may_be_shown = !segments.first().is_some_and(|first| is_store(&first.text));
                if let Some(shown) = property.leaf.shown().filter(|_| may_be_shown) {
                    problem = problem.value(shown);
                }
                report.problem(&file.source, property.line, problem);
            }
        }
    }
    replaced
}

fn with_values(leaf: &Leaf, placeholders: &Placeholders<'_>) -> Result<Leaf, Unresolved> {
    let replace = |text: &Text| {
        Ok::<Text, Unresolved>(match placeholders.resolve(&text.value)? {
            None => text.clone(),
            Some(value) => Text { value: value.into(), written: Some(Arc::clone(&text.value)) },
        })
    };
    Ok(match leaf {
        Leaf::Text(text) => Leaf::Text(replace(text)?),
        Leaf::List(items) => Leaf::List(items.iter().map(replace).collect::<Result<_, _>>()?),
        Leaf::Empty | Leaf::Nested | Leaf::Elsewhere => leaf.clone(),
    })
}
