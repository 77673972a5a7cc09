//! The README's configuration reference says what the schema says.

use resilience_settings::{Default, Pattern};

#[test]
fn the_reference_lists_every_key_with_its_default_and_meaning() {
    let readme = include_str!("../../README.md");
    for pattern in Pattern::ALL {
        let heading = format!("### `{pattern}`");
        let section = readme.split(&heading).nth(1).unwrap_or_else(|| panic!("no {heading}"));
        let section = section.split("\n#").next().unwrap_or_default();
        for key in pattern.keys() {
            let default = match key.default {
                Default::Unset => "unset".to_owned(),
                Default::EmptyList => "`[]`".to_owned(),
                Default::ProcessorsMinus(0) => "processors".to_owned(),
                Default::ProcessorsMinus(n) => format!("processors − {n}"),
                Default::Bool(b) => format!("`{b}`"),
                Default::Integer(n) => format!("`{n}`"),
                Default::Float(x) => format!("`{x}`"),
                Default::Duration(text) | Default::Word(text) => format!("`{text}`"),
            };
            let row = format!("| `{}` | {default} | {} |", key.name, key.doc);
            assert!(section.contains(&row), "{pattern} misses the row {row}");
        }
    }
}
