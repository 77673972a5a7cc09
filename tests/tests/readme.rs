//! The README's configuration reference says what the schema says.

use resilience_settings::{Default, Key, Pattern, schema};

#[test]
fn the_reference_lists_every_key_with_its_default_and_meaning() {
    let readme = include_str!("../../README.md");
    let patterns = Pattern::ALL.map(|pattern| (pattern.section(), pattern.keys()));
    let tables = patterns.into_iter().chain([("retry.budgets.<name>", schema::RETRY_BUDGET)]);
    for (section, keys) in tables {
        let heading = format!("### `{section}`");
        let table = readme.split(&heading).nth(1).unwrap_or_else(|| panic!("no {heading}"));
        let table = table.split("\n#").next().unwrap_or_default();
        for key in keys {
            let row = format!("| `{}` | {} | {} |", key.name, default(key), key.doc);
            assert!(table.contains(&row), "{section} misses the row {row}");
        }
    }
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
