//! What the README and its companions in `docs` say holds: the tables of settings are the schema's,
//! and every example can be copied as it is shown. The documentation tests run those in Rust.

use resilience::{Config, Resilience, config::Format};
use resilience_settings::{Default, Key, Pattern, schema};

const README: &str = include_str!("../../README.md");
const ATTRIBUTES: &str = include_str!("../../docs/attributes.md");
const OBSERVABILITY: &str = include_str!("../../docs/observability.md");
const RESILIENCE4J: &str = include_str!("../../docs/resilience4j.md");
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
    let others = [("retry.budgets.<name>", schema::RETRY_BUDGET), ("redis", schema::REDIS)];
    for (section, keys) in patterns.chain(others) {
        let own = keys.iter().filter(|key| !shared(key));
        assert_eq!(rows(&format!("### `{section}`")), sorted(own), "{section}");
    }
}

/// A line that starts with `#` and a space is hidden by rustdoc and shown by everybody else.
#[test]
fn no_example_in_rust_hides_a_line() {
    let examples: Vec<_> =
        [README, ATTRIBUTES, OBSERVABILITY].iter().flat_map(|text| blocks(text, "rust")).collect();
    assert!(!examples.is_empty());
    for example in examples {
        for line in example.lines().map(str::trim_start) {
            assert!(line != "#" && !line.starts_with("# "), "{line:?} is hidden in:\n{example}");
        }
    }
}

#[test]
fn every_example_of_a_file_is_a_valid_configuration() {
    for text in [README, SETTINGS, RESILIENCE4J] {
        let examples = blocks(text, "yaml");
        assert!(!examples.is_empty());
        for example in examples {
            let config = Config::from_str(example, Format::Yaml);
            if let Err(error) = config.and_then(Resilience::from_config) {
                panic!("{error}\n{example}");
            }
        }
    }
}

/// The code blocks of a language in a text.
fn blocks<'t>(text: &'t str, language: &str) -> Vec<&'t str> {
    let fenced = text.split("\n```").skip(1).step_by(2);
    fenced
        .filter_map(|block| block.split_once('\n'))
        .filter(|(fence, _)| fence.split(',').next() == Some(language))
        .map(|(_, code)| code)
        .collect()
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
