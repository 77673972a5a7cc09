use std::ops::Range;

use resilience_config::question;
use resilience_settings::{nearest, same_name};
use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

/// The table's name.
const OURS: &str = "resilience";

const KEYS: [&str; 2] = ["config", "profiles"];

/// How many files may be named. People name one, or one for each profile.
const MAX_FILES: usize = 100;

/// `[package.metadata.resilience]` of a manifest.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Metadata {
    /// The files in the order in which they are loaded.
    pub(super) config: Vec<String>,
    pub(super) profiles: Vec<String>,
}

impl Metadata {
    /// Reads the text of a `Cargo.toml`; `None` when it says nothing about us.
    ///
    /// # Errors
    ///
    /// What is wrong, with the line, and what to write instead.
    pub(super) fn read(manifest: &str) -> Result<Option<Self>, String> {
        let at = |span: &Range<usize>| 1 + manifest[..span.start].matches('\n').count();
        let document = DeTable::parse(manifest)
            .map_err(|error| format!("Cargo.toml is no valid TOML: {}", error.message()))?;
        let Some(package) = document.get_ref().get("package") else { return Ok(None) };
        let Some(metadata) = package.get_ref().get("metadata") else { return Ok(None) };
        let Some(ours) = metadata.get_ref().get(OURS) else { return misspelt(metadata, at) };
        let Some(table) = ours.get_ref().as_table() else {
            return Err(format!(
                "Cargo.toml:{}: `package.metadata.resilience` is a table: write \
                 `resilience.config = \"resilience.yaml\"`",
                at(&ours.span())
            ));
        };
        let mut read = Self::default();
        for (key, value) in table {
            let line = at(&key.span());
            match key.get_ref().as_ref() {
                "config" if value.get_ref().get("workspace").is_some() => {
                    return Err(format!(
                        "Cargo.toml:{line}: metadata is not inherited from the workspace; a member names \
                         the file itself: write `config = \"../resilience.yaml\"`"
                    ));
                }
                "config" => read.config = texts(value).ok_or_else(|| wrong_config(line))?,
                "profiles" => {
                    read.profiles = texts(value).ok_or_else(|| {
                        format!(
                            "Cargo.toml:{line}: `profiles` is a list of names: write \
                             `profiles = [\"prod\"]`"
                        )
                    })?;
                }
                other => {
                    let hint = match nearest(other, KEYS) {
                        Some(near) => question(format_args!("`{near}`")),
                        None => "; write `config = \"resilience.yaml\"`".to_owned(),
                    };
                    return Err(format!(
                        "Cargo.toml:{line}: `package.metadata.resilience` has no key `{}`{hint}",
                        other.escape_debug()
                    ));
                }
            }
        }
        if read.config.is_empty() || read.config.len() > MAX_FILES {
            return Err(wrong_config(at(&ours.span())));
        }
        Ok(Some(read))
    }
}

/// Metadata of ours in other letters would be left alone in silence.
fn misspelt(
    metadata: &Spanned<DeValue<'_>>,
    line: impl Fn(&Range<usize>) -> usize,
) -> Result<Option<Metadata>, String> {
    let table = metadata.get_ref().as_table();
    let keys = table.into_iter().flatten().map(|(key, _)| key);
    match keys.into_iter().find(|key| same_name(key.get_ref(), OURS)) {
        None => Ok(None),
        Some(key) => Err(format!(
            "Cargo.toml:{}: `package.metadata.{}` is not read: write `[package.metadata.{OURS}]`",
            line(&key.span()),
            key.get_ref().escape_debug()
        )),
    }
}

fn wrong_config(line: usize) -> String {
    format!(
        "Cargo.toml:{line}: `config` is the path of a file, or a list of 1 to {MAX_FILES}: write \
         `config = \"resilience.yaml\"`"
    )
}

/// A text, or a list of texts.
fn texts(value: &Spanned<DeValue<'_>>) -> Option<Vec<String>> {
    let text = |value: &Spanned<DeValue<'_>>| {
        value.get_ref().as_str().filter(|text| !text.is_empty()).map(str::to_owned)
    };
    match value.get_ref() {
        DeValue::Array(items) => items.iter().map(text).collect(),
        _ => text(value).map(|text| vec![text]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(manifest: &str) -> Metadata {
        Metadata::read(manifest).expect("valid").expect("there")
    }

    #[test]
    fn files_and_profiles_are_found_in_every_spelling() {
        let one = Metadata { config: vec!["a.yaml".into()], profiles: Vec::new() };
        for manifest in [
            "[package.metadata.resilience]\nconfig = \"a.yaml\"",
            "[package]\nmetadata.resilience.config = 'a.yaml'",
            "[package.metadata]\nresilience = { config = [\"a.yaml\"] }",
        ] {
            assert_eq!(read(manifest), one, "{manifest}");
        }
        let both = "[package.metadata.resilience]\nconfig = ['a.yaml', 'b.toml']\nprofiles = ['x']";
        let both = read(both);
        assert_eq!((both.config.len(), both.profiles), (2, vec!["x".to_owned()]));
    }

    #[test]
    fn a_manifest_that_says_nothing_about_us_is_right() {
        for manifest in ["", "[package]\nname = 'a'", "[package.metadata.docs.rs]\nall = true"] {
            assert_eq!(Metadata::read(manifest), Ok(None), "{manifest}");
        }
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line_and_what_to_write() {
        for (ours, wanted) in [
            ("config = 3", "Cargo.toml:3: `config` is the path of a file"),
            ("config = []", "Cargo.toml:2: `config` is the path of a file"),
            ("config = ''", "Cargo.toml:3: `config` is the path of a file"),
            ("profiles = ['prod']", "Cargo.toml:2: `config` is the path of a file"),
            (
                "file = 'a.yaml'",
                "Cargo.toml:3: `package.metadata.resilience` has no key `file`; write `config = ",
            ),
            ("config.workspace = true", "Cargo.toml:3: metadata is not inherited"),
            ("config = 'a'\nprofiles = 1", "Cargo.toml:4: `profiles` is a list of names"),
        ] {
            let manifest = format!("[package]\n[package.metadata.resilience]\n{ours}");
            let error = Metadata::read(&manifest).expect_err(ours);
            assert!(error.starts_with(wanted) && error.contains(" write `"), "{error}");
        }
        for (key, near) in [("Config", "config"), ("configs", "config"), ("PROFILES", "profiles")] {
            let manifest = format!("[package.metadata.resilience]\n{key} = 'a'");
            let error = Metadata::read(&manifest).expect_err(key);
            assert!(
                error.ends_with(&format!("has no key `{key}`; did you mean `{near}`?")),
                "{error}"
            );
        }
        let other_case = Metadata::read("[package.metadata.Resilience]\nconfig = 'a.yaml'");
        let other_case = other_case.expect_err("wrong");
        assert!(other_case.contains("write `[package.metadata.resilience]`"), "{other_case}");
        let no_table =
            Metadata::read("[package]\nmetadata.resilience = 'a.yaml'").expect_err("wrong");
        assert!(no_table.contains("write `resilience.config = "), "{no_table}");
    }
}
