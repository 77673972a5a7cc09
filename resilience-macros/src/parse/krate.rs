//! The path of the `resilience` crate in the crate that is being compiled.
//!
//! A dependency can be renamed in `Cargo.toml`. A full TOML parser would cost every user build
//! time for one line, so the few shapes in which Cargo lets a rename be written are read here.

use std::{fs, path::Path};

use proc_macro2::Span;
use syn::{Ident, parse_quote};

const PACKAGE: &str = "resilience";

/// `::resilience`, or `::other` where the dependency is renamed to `other`.
pub(crate) fn default_crate() -> syn::Path {
    let name = std::env::var_os("CARGO_MANIFEST_DIR")
        .and_then(|directory| renamed(Path::new(&directory)))
        .unwrap_or_else(|| PACKAGE.to_owned());
    let name = Ident::new(&name.replace('-', "_"), Span::call_site());
    parse_quote!(::#name)
}

fn renamed(directory: &Path) -> Option<String> {
    let manifest = fs::read_to_string(directory.join("Cargo.toml")).ok()?;
    let dependencies = Dependencies::read(&manifest, "dependencies");
    if let Some(name) = dependencies.rename() {
        return Some(name);
    }
    // `other = { workspace = true }`: the rename stands in the workspace's manifest.
    if dependencies.inherited.is_empty() {
        return None;
    }
    directory.ancestors().find_map(|ancestor| {
        let manifest = fs::read_to_string(ancestor.join("Cargo.toml")).ok()?;
        let name = Dependencies::read(&manifest, "workspace.dependencies").rename()?;
        dependencies.inherited.contains(&name).then_some(name)
    })
}

/// The dependencies of a manifest, as far as renames need them.
#[derive(Debug, Default)]
struct Dependencies {
    /// Names whose `package` is ours.
    ours: Vec<String>,
    /// Names that the workspace defines.
    inherited: Vec<String>,
}

impl Dependencies {
    /// Reads every table whose name ends in `table`: also `dev-dependencies` and those of a target.
    fn read(manifest: &str, table: &str) -> Self {
        let mut found = Self::default();
        let mut section = Section::Other;
        for line in manifest.lines().map(|line| without_comment(line).trim()) {
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

    fn note(&mut self, name: &str, fields: &str) {
        let name = unquoted(name).to_owned();
        if field(fields, "package").is_some_and(|package| unquoted(package) == PACKAGE) {
            self.ours.push(name);
        } else if field(fields, "workspace") == Some("true") {
            self.inherited.push(name);
        }
    }

    fn rename(&self) -> Option<String> {
        self.ours.first().cloned()
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
        if header.ends_with(table) {
            return Section::Table;
        }
        match header.rsplit_once('.') {
            Some((parent, name)) if parent.ends_with(table) => {
                Section::Entry(unquoted(name).to_owned())
            }
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

/// No crate name, path or version that matters here contains a `#`.
fn without_comment(line: &str) -> &str {
    line.split('#').next().unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rename_is_found_in_every_shape() {
        for manifest in [
            "[dependencies]\nguard = { package = \"resilience\", path = \"..\" }",
            "[dependencies]\nguard={path='..',package='resilience'} # renamed",
            "[dev-dependencies]\nguard = { package = \"resilience\", path = \"..\" }",
            "[dependencies.guard]\npath = \"..\"\npackage = \"resilience\"\n",
            "[dependencies]\nguard.path = \"..\"\nguard.package = \"resilience\"\n",
            "[target.'cfg(unix)'.dependencies]\nguard = { package = \"resilience\" }",
        ] {
            let found = Dependencies::read(manifest, "dependencies").rename();
            assert_eq!(found.as_deref(), Some("guard"), "{manifest}");
        }
    }

    #[test]
    fn a_dependency_under_its_own_name_is_no_rename() {
        let manifest = "[package]\nname = \"x\"\n[dependencies]\nresilience = { path = \"..\" }\n";
        assert_eq!(Dependencies::read(manifest, "dependencies").rename(), None);
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
