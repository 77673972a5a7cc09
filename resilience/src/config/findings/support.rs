use crate::config::{Config, Finding, Format};

/// What is found in a YAML text.
pub(super) fn found(text: &str) -> Vec<Finding> {
    let config =
        Config::builder().env(false).text(text, Format::Yaml).load().expect("a valid text");
    config.report().findings().to_vec()
}

/// What the rule of this code finds in a YAML text, as texts.
pub(super) fn texts(code: &str, text: &str) -> Vec<String> {
    let found = found(text).into_iter().filter(|finding| finding.code == code);
    found.map(|finding| finding.to_string()).collect()
}

/// Whether the rule of this code finds anything.
pub(super) fn fires(code: &str, text: &str) -> bool {
    !texts(code, text).is_empty()
}
