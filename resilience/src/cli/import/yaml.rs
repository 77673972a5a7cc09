//! A configuration as the text that is read as the same configuration.

use std::fmt::{self, Write as _};

use crate::config::{Config, Entry, Group, Origin, Pattern, Value};

/// What was read, under its bases: nothing is spelled out that an entry inherits.
pub(super) fn of(config: &Config) -> String {
    let mut out = Writer::default();
    if let Some(name) = config.application() {
        out.line(0, format_args!("spring:"));
        out.line(1, format_args!("application: {{ name: {} }}", Quoted(name)));
    }
    out.line(0, format_args!("resilience:"));
    if config.is_strict() {
        out.line(1, format_args!("strict: true"));
    }
    out.store(config);
    for (pattern, section) in config.loaded().tree().patterns() {
        out.line(1, format_args!("{}:", pattern.section()));
        if let Some((enabled, _)) = section.enabled {
            out.line(2, format_args!("enabled: {enabled}"));
        }
        for group in [Group::Configs, Group::Budgets, Group::Instances] {
            let mut entries = section.group(group).iter().peekable();
            if entries.peek().is_some() {
                out.line(2, format_args!("{}:", group.name()));
            }
            entries.for_each(|entry| out.entry(pattern, group, entry));
        }
    }
    out.text
}

#[derive(Default)]
struct Writer {
    text: String,
}

impl Writer {
    fn line(&mut self, depth: usize, line: fmt::Arguments<'_>) {
        let _ = writeln!(self.text, "{:1$}{line}", "", depth * 2); // a String takes everything
    }

    /// The store, but for an address that has a password in it.
    fn store(&mut self, config: &Config) {
        let Some(store) = config.loaded().store() else { return };
        self.line(1, format_args!("redis:"));
        for (path, value, origin) in store.iter().filter(|(.., origin)| **origin != Origin::Default)
        {
            let key = path.trim_start_matches("redis.");
            match value {
                Value::Addresses(addresses) if addresses.have_secrets() => {
                    self.line(2, format_args!("# {key} at {origin}: not shown"));
                }
                value => self.line(2, format_args!("{key}: {}", Written(value))),
            }
        }
    }

    fn entry(&mut self, pattern: Pattern, group: Group, entry: &Entry) {
        let name = Key(&entry.name);
        if entry.base.is_none() && entry.values.is_empty() {
            self.line(3, format_args!("{name}: {{}}"));
            return;
        }
        self.line(3, format_args!("{name}:"));
        if let Some(base) = &entry.base {
            self.line(4, format_args!("base_config: {}", Quoted(&base.name)));
        }
        for (slot, value) in &entry.values {
            let key = group.keys(pattern)[*slot].name;
            self.line(4, format_args!("{key}: {}", Written(&value.0)));
        }
    }
}

/// A text that is no other YAML whatever is in it.
struct Quoted<'a>(&'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_plain = self.0.starts_with(|c: char| c.is_ascii_alphabetic())
            && self.0.chars().all(|c| c.is_ascii_alphanumeric() || "_-.".contains(c))
            && !["true", "false", "null", "yes", "no", "on", "off", "y", "n"]
                .contains(&self.0.to_ascii_lowercase().as_str());
        if is_plain { f.write_str(self.0) } else { write!(f, "{}", serde_json::json!(self.0)) }
    }
}

/// A name as a key: dots in it are to stay its own.
struct Key<'a>(&'a str);

impl fmt::Display for Key<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.contains(['.', '[']) && has_pairs_of_brackets(self.0) {
            Quoted(&format!("[{}]", self.0)).fmt(f)
        } else {
            Quoted(self.0).fmt(f)
        }
    }
}

/// Whether every bracket is closed, and every closing one was opened: where they are not, a name
/// came from a key without brackets around it.
fn has_pairs_of_brackets(name: &str) -> bool {
    let mut open = 0_u32;
    for c in name.chars() {
        match c {
            '[' => open += 1,
            ']' if open == 0 => return false,
            ']' => open -= 1,
            _ => {}
        }
    }
    open == 0
}

/// A value as it is read again.
struct Written<'a>(&'a Value);

impl fmt::Display for Written<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Value::Word(word) => Quoted(word).fmt(f),
            Value::Kinds(list) | Value::Texts(list) => {
                let list: Vec<String> = list.iter().map(|text| Quoted(text).to_string()).collect();
                write!(f, "[{}]", list.join(", "))
            }
            Value::Addresses(addresses) => {
                let list = addresses.exposed().iter().map(|text| Quoted(text).to_string());
                write!(f, "[{}]", list.collect::<Vec<_>>().join(", "))
            }
            Value::Counts(counts) => {
                let counts = counts.iter().map(|(kind, n)| format!("{}: {n}", Quoted(kind)));
                write!(f, "{{ {} }}", counts.collect::<Vec<_>>().join(", "))
            }
            other => other.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::config::Format;

    fn load(text: &str) -> Config {
        Config::builder().env(false).text(text, Format::Yaml).load().unwrap()
    }

    /// What is in force, wherever it was written.
    fn values(config: &Config) -> Vec<(String, Value)> {
        config.effective().into_iter().map(|(path, value, _)| (path, value)).collect()
    }

    #[test]
    fn bases_budgets_switches_and_names_survive() {
        let config = load(
            "
resilience4j:
  strict: true
  error_kind_aliases: { com.example.Declined: declined }
  bulkhead:
    enabled: false
    instances: { 'a.b': {}, 'yes': { maxWaitDuration: 1s }, '1': {} }
  retry:
    budgets: { shared: { ratio: 0.5 } }
    configs:
      default: { maxAttempts: 5 }
      patient: { baseConfig: default, waitDuration: 90s, retryExceptions: [java.io.IOException] }
    instances:
      pay: { baseConfig: patient, budget: shared }
  circuitbreaker.instances.pay:
    consecutiveFailures: { com.example.Declined: 3, default: 7 }
    ignoreExceptions: [com.example.Other]
---
spring.application.name: \"orders: east\"
",
        );
        let again = load(&of(&config));
        assert_eq!(values(&again), values(&config));
        assert_eq!(again.application(), Some("orders: east"));
        assert!(again.is_strict());
        assert!(of(&config).contains("base_config: patient"), "{}", of(&config));
    }

    const STORE: &str = "
redis: { urls: [redis://a, 'redis://b:1/2'], namespace: 'shop:eu', nodes: 3, decision_timeout: 5ms }
retry.instances.pay: {}";

    #[test]
    fn the_store_survives() {
        let config = load(STORE);
        assert_eq!(values(&load(&of(&config))), values(&config));
    }

    #[test]
    fn an_address_with_a_password_is_left_out() {
        let text = of(&load(&STORE.replace("redis://a", "'redis://:sesame@a'")));
        assert!(text.contains("    # urls at <text>:2 (redis): not shown"), "{text}");
        assert!(!text.contains("sesame"), "{text}");
    }

    proptest! {
        /// Any name and any text on a list.
        #[test]
        fn what_is_written_is_read_as_the_same(
            name in "[a-zA-Z0-9 .:#'\"{}&*!|>%@`é,?-]{0,8}[a-z]",
            kind in "[a-zA-Z0-9_:#'\"{}&*!|>%@`é?-]{1,8}",
            attempts in 1..100_u32,
        ) {
            let loaded = Config::builder()
                .env(false)
                .set(format!("retry.instances[{name}].max_attempts"), attempts.to_string())
                .set(format!("retry.instances[{name}].retry_errors"), kind)
                .load();
            // A name of separators alone is none.
            prop_assume!(loaded.is_ok());
            let config = loaded.unwrap();
            let again = load(&of(&config));
            prop_assert_eq!(values(&again), values(&config));
        }
    }
}
