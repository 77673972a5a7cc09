//! The path of the `resilience` crate in the crate that is being compiled.
//!
//! A dependency can be renamed in `Cargo.toml`. A full TOML parser would cost every user build
//! time for one line, so the few shapes in which Cargo lets a rename be written are read here.

use std::{collections::BTreeMap, fs, path::Path};

use proc_macro2::Span;
use syn::{Ident, parse_quote};

const PACKAGE: &str = "resilience";

/// Where a package may have us, first choice first: code outside of tests sees the first alone.
const TABLES: [&str; 3] = ["dependencies", "dev-dependencies", "build-dependencies"];

/// `::resilience`, or `::other` where the dependency is renamed to `other`.
pub(crate) fn default_crate() -> syn::Path {
    let name = std::env::var_os("CARGO_MANIFEST_DIR")
        .and_then(|directory| name_in(Path::new(&directory)))
        .unwrap_or_else(|| PACKAGE.to_owned());
    let name = Ident::new(&name.replace('-', "_"), Span::call_site());
    parse_quote!(::#name)
}

fn name_in(directory: &Path) -> Option<String> {
    let manifest = fs::read_to_string(directory.join("Cargo.toml")).ok()?;
    TABLES.iter().find_map(|table| {
        let dependencies = Dependencies::read(&manifest, table);
        dependencies.name().or_else(|| inherited_name(directory, &dependencies.inherited))
    })
}

/// `other = { workspace = true }`: the rename stands in the workspace's manifest.
fn inherited_name(directory: &Path, inherited: &[String]) -> Option<String> {
    if inherited.is_empty() {
        return None;
    }
    directory.ancestors().find_map(|ancestor| {
        let manifest = fs::read_to_string(ancestor.join("Cargo.toml")).ok()?;
        let workspace = Dependencies::read(&manifest, "workspace.dependencies");
        workspace.ours().find(|name| inherited.contains(name)).cloned()
    })
}

/// The dependencies of a manifest, as far as our name needs them.
#[derive(Debug, Default)]
struct Dependencies {
    /// The package behind each name; `None` where it is called the same.
    packages: BTreeMap<String, Option<String>>,
    /// Names that the workspace defines.
    inherited: Vec<String>,
}

impl Dependencies {
    /// Reads the table of this name, and those of targets.
    fn read(manifest: &str, table: &str) -> Self {
        let mut found = Self::default();
        let mut section = Section::Other;
        for line in joined_lines(manifest) {
            let line = line.trim();
            if let Some(header) = line.strip_prefix('[') {
                section = Section::of(header.trim_end_matches(']').trim(), table);
                continue;
            }
            let Some((key, value)) = line.split_once('=') else { continue };
            let (key, value) = (key.trim(), value.trim());
            match &section {
                Section::Other => {}
                Section::Entry(name) => found.note(name, &format!("{key} = {value}")),
                Section::Table => match key.split_once('.') {
                    Some((name, field)) => found.note(name.trim(), &format!("{field} = {value}")),
                    None => found.note(key, value),
                },
            }
        }
        found
    }

    /// Notes one line about a dependency, which may hold all of its fields or one of them.
    fn note(&mut self, name: &str, fields: &str) {
        let name = unquoted(name).to_owned();
        if field(fields, "workspace") == Some("true") {
            self.inherited.push(name.clone());
        }
        let package = self.packages.entry(name).or_default();
        if let Some(written) = field(fields, "package") {
            *package = Some(unquoted(written).to_owned());
        }
    }

    /// The names that we have.
    fn ours(&self) -> impl Iterator<Item = &String> {
        let of = |(name, package): &(&String, &Option<String>)| {
            package.as_ref().unwrap_or(name) == PACKAGE
        };
        self.packages.iter().filter(of).map(|(name, _)| name)
    }

    /// The name to use: our own one where it is there.
    fn name(&self) -> Option<String> {
        self.ours().find(|name| *name == PACKAGE).or(self.ours().next()).cloned()
    }
}

enum Section {
    /// `[dependencies]`
    Table,
    /// `[dependencies.name]`
    Entry(String),
    Other,
}

impl Section {
    fn of(header: &str, table: &str) -> Self {
        let is_table = |header: &str| match header.strip_suffix(table) {
            Some(before) => {
                before.is_empty() || (before.starts_with("target.") && before.ends_with('.'))
            }
            None => false,
        };
        if is_table(header) {
            return Section::Table;
        }
        match header.rsplit_once('.') {
            Some((parent, name)) if is_table(parent) => Section::Entry(unquoted(name).to_owned()),
            _ => Section::Other,
        }
    }
}

/// The value of `key` in `{ a = "1", key = "2" }` or `key = "2"`.
fn field<'a>(fields: &'a str, key: &str) -> Option<&'a str> {
    let fields = fields.trim().trim_start_matches('{').trim_end_matches('}');
    fields.split(',').find_map(|pair| {
        let (name, value) = pair.split_once('=')?;
        (name.trim() == key).then(|| value.trim())
    })
}

fn unquoted(text: &str) -> &str {
    text.trim().trim_matches(['"', '\''])
}

/// The lines without comments; a table or list in braces or brackets is one, however it is written.
fn joined_lines(manifest: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut open = 0;
    for line in manifest.lines().map(without_comment) {
        match lines.last_mut() {
            Some(last) if open > 0 => last.push_str(line),
            _ => lines.push(line.to_owned()),
        }
        open += opened(line);
    }
    lines
}

/// How many more braces and brackets a line opens than it closes.
fn opened(line: &str) -> i32 {
    let mut text = None;
    let signs = line.chars().map(|c| match (text, c) {
        (Some(quote), _) => {
            if c == quote {
                text = None;
            }
            0
        }
        (None, '"' | '\'') => {
            text = Some(c);
            0
        }
        (None, '{' | '[') => 1,
        (None, '}' | ']') => -1,
        (None, _) => 0,
    });
    signs.sum()
}

/// No crate name, path or version that matters here contains a `#`.
fn without_comment(line: &str) -> &str {
    line.split('#').next().unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(manifest: &str) -> Option<String> {
        TABLES.iter().find_map(|table| Dependencies::read(manifest, table).name())
    }

    #[test]
    fn a_rename_is_found_in_every_shape() {
        for manifest in [
            "[dependencies]\nguard = { package = \"resilience\", path = \"..\" }",
            "[dependencies]\nguard={path='..',package='resilience'} # renamed",
            "[dev-dependencies]\nguard = { package = \"resilience\", path = \"..\" }",
            "[build-dependencies]\nguard = { package = \"resilience\", path = \"..\" }",
            "[dependencies]\nguard = {\n  path = '..', # here\n  package = 'resilience',\n}",
            "[package]\ndescription = '{ and ['\n[dependencies]\nguard.package = 'resilience'",
            "[features]\na = [\n  'b',\n]\n[dependencies]\nguard = { package = \"resilience\" }",
            "[dependencies.guard]\npath = \"..\"\npackage = \"resilience\"\n",
            "[dependencies]\nguard.path = \"..\"\nguard.package = \"resilience\"\n",
            "[target.'cfg(unix)'.dependencies]\nguard = { package = \"resilience\" }",
            "[target.'cfg(unix)'.dependencies.guard]\npackage = \"resilience\"",
        ] {
            assert_eq!(name(manifest).as_deref(), Some("guard"), "{manifest}");
        }
    }

    #[test]
    fn a_dependency_under_its_own_name_is_no_rename() {
        for manifest in [
            "[package]\nname = \"x\"\n[dependencies]\nresilience = { path = \"..\" }",
            "[dependencies]\nresilience = { workspace = true }",
            "[dependencies.resilience]\npath = \"..\"",
        ] {
            assert_eq!(name(manifest).as_deref(), Some("resilience"), "{manifest}");
        }
    }

    #[test]
    fn our_own_name_among_the_dependencies_beats_a_rename_anywhere() {
        let renamed = "guard = { package = \"resilience\", path = \"..\" }";
        for table in
            ["dev-dependencies", "build-dependencies", "workspace.dependencies", "dependencies"]
        {
            let manifest =
                format!("[{table}]\n{renamed}\n[dependencies]\nresilience = {{ path = '..' }}");
            assert_eq!(name(&manifest).as_deref(), Some("resilience"), "{table}");
        }
    }

    #[test]
    fn a_rename_among_the_dependencies_beats_our_own_name_in_the_tests() {
        let manifest = "[dev-dependencies]\nresilience = { path = '..' }\n[dependencies]\n\
                        guard = { package = \"resilience\" }";
        assert_eq!(name(manifest).as_deref(), Some("guard"));
    }

    #[test]
    fn another_package_under_our_name_is_not_ours() {
        let manifest = "[dependencies]\nresilience.package = \"other\"\nresilience.path = '..'\n\
                        guard.package = \"resilience\"";
        assert_eq!(name(manifest).as_deref(), Some("guard"));
    }

    #[test]
    fn a_table_whose_name_only_ends_alike_is_not_read() {
        for header in ["package.metadata.dependencies", "workspace.dependencies", "my-dependencies"]
        {
            let manifest = format!("[{header}]\nguard = {{ package = \"resilience\" }}");
            assert_eq!(name(&manifest), None, "{header}");
        }
    }

    #[test]
    fn an_inherited_dependency_is_noted() {
        for manifest in [
            "[dependencies]\nguard = { workspace = true }",
            "[dependencies]\nguard.workspace = true",
            "[dependencies.guard]\nworkspace = true",
        ] {
            assert_eq!(Dependencies::read(manifest, "dependencies").inherited, ["guard"]);
        }
    }
}
