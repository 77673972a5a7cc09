//! What the README and its companions say holds: the tables of settings are the schema's, and every
//! example can be copied as it is shown.

use resilience_settings::{Default, Key, Pattern, schema};

const README: &str = include_str!("../../README.md");
const SETTINGS: &str = include_str!("../../docs/settings.md");

#[test]
fn the_settings_list_every_key_with_its_default_and_meaning() {
    let shared = |key: &Key| {
        let keyed = Pattern::ALL.iter().filter(|pattern| **pattern != Pattern::ThreadPoolBulkhead);
        keyed.map(|pattern| pattern.keys()).all(|keys| keys.iter().any(|k| k.name == key.name))
    };
    assert_eq!(
        rows("### Every pattern"),
        sorted(schema::BULKHEAD.iter().filter(|key| shared(key)))
    );
    let patterns = Pattern::ALL.iter().map(|pattern| (pattern.section(), pattern.keys()));
    for (section, keys) in patterns.chain([("retry.budgets.<name>", schema::RETRY_BUDGET)]) {
        let own = keys.iter().filter(|key| !shared(key));
        assert_eq!(rows(&format!("### `{section}`")), sorted(own), "{section}");
    }
}

/// A line that starts with `# ` is hidden by rustdoc and shown by everybody else.
#[test]
fn no_example_of_the_readme_hides_a_line() {
    let mut language = None;
    for (number, line) in README.lines().enumerate() {
        if let Some(fence) = line.strip_prefix("```") {
            language = language.is_none().then_some(fence);
        } else if language == Some("rust") {
            assert!(line != "#" && !line.starts_with("# "), "README.md:{}: {line}", number + 1);
        }
    }
}

/// The rows below a heading of the settings, sorted.
fn rows(heading: &str) -> Vec<String> {
    let (_, below) = SETTINGS.split_once(&format!("\n{heading}\n")).unwrap_or_else(|| {
        panic!("docs/settings.md has no {heading}");
    });
    let below = below.split("\n#").next().unwrap_or_default();
    let mut rows: Vec<_> =
        below.lines().filter(|line| line.starts_with("| `")).map(str::to_owned).collect();
    rows.sort_unstable();
    rows
}

fn sorted<'k>(keys: impl Iterator<Item = &'k Key>) -> Vec<String> {
    let mut rows: Vec<_> =
        keys.map(|key| format!("| `{}` | {} | {} |", key.name, default(key), key.doc)).collect();
    rows.sort_unstable();
    rows
}

/// The default as a table shows it.
fn default(key: &Key) -> String {
    match key.default {
        Default::Unset => "unset".to_owned(),
        Default::EmptyList => "`[]`".to_owned(),
        Default::ProcessorsMinus(0) => "processors".to_owned(),
        Default::ProcessorsMinus(n) => format!("processors − {n}"),
        Default::Bool(b) => format!("`{b}`"),
        Default::Integer(n) => format!("`{n}`"),
        Default::Float(x) => format!("`{x}`"),
        Default::Duration(text) | Default::Word(text) => format!("`{text}`"),
    }
}
