use std::sync::Arc;

use resilience_settings::{Pattern, Value};

use crate::{
    ConfigError, Loaded, Origin, Problem, Settings,
    bases::{default_of, is_default, is_known, unknown_base},
    hint::Hints,
    tree::{Entry, Section, Values},
};

/// The arguments of an attribute that are settings.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Inline {
    /// Where the attribute stands, as `file:line`.
    pub place: String,
    /// Key and value, as the attribute has them.
    pub values: Vec<(String, Value)>,
    /// The base that the attribute names; the file's entry goes before it.
    pub base_config: Option<String>,
}

impl Loaded {
    /// The settings of an instance: built-in defaults, `configs.default`, the attribute's values,
    /// the named bases, the instance's own; later ones win.
    ///
    /// # Errors
    ///
    /// Only the attribute can be wrong: the rest was checked when the configuration was loaded.
    pub fn resolve(
        &self,
        pattern: Pattern,
        name: &str,
        inline: &Inline,
    ) -> Result<Settings, ConfigError> {
        let empty = Section::default();
        let section = self.tree().section(pattern).unwrap_or(&empty);
        let entry = section.instances.get(name);
        let mut settings = Settings::defaults(pattern);
        let mut problems = Vec::new();

        if let Some(default) = default_of(&section.configs) {
            overlay(&mut settings, &default.whole.values);
        }
        for (key, value) in &inline.values {
            let origin = Origin::Attribute(inline.place.clone());
            if let Err(problem) = settings.set(key, value.clone(), origin) {
                problems.push(problem.place(&inline.place));
            }
        }
        let own = entry.and_then(|entry| entry.base.as_ref()).map(|base| base.name.as_str());
        if let Some(base) = own.or(inline.base_config.as_deref()) {
            if !is_known(&section.configs, base) {
                let message = unknown_base(base, &[&section.configs], &Hints::default());
                problems.push(
                    Problem::new(message).place(&inline.place).path("base_config").value(base),
                );
            }
            // `default` and what it is based on lie below everything already.
            if let Some(config) = section.configs.get(base).filter(|_| !is_default(base)) {
                overlay(&mut settings, &config.whole.values);
            }
        }
        if let Some(entry) = entry {
            overlay(&mut settings, &entry.values);
        }
        switch(&mut settings, section);
        if problems.is_empty() { Ok(settings) } else { Err(ConfigError::new(problems)) }
    }

    /// The settings that Resilience4j would give a declared circuit breaker: there a named base
    /// does not inherit `default`, and an instance named like a config takes it for its base.
    pub(crate) fn as_resilience4j(section: &Section, entry: &Entry) -> Settings {
        let mut settings = Settings::defaults(Pattern::CircuitBreaker);
        let default = default_of(&section.configs);
        let base = match &entry.base {
            Some(base) => section.configs.get(&base.name),
            None => section.configs.get(&entry.name).or(default),
        };
        if let Some(base) = base {
            let below = default.filter(|_| base.whole.over_default);
            below.into_iter().chain([base]).for_each(|config| {
                overlay(&mut settings, &config.whole.values);
            });
        }
        overlay(&mut settings, &entry.values);
        switch(&mut settings, section);
        settings
    }
}

fn overlay(settings: &mut Settings, values: &Values) {
    for (slot, value) in values {
        settings.put(*slot, Arc::clone(value));
    }
}

/// `enabled: false` of the pattern goes before everything else. That code has said `true` instead is
/// why an instance acts.
fn switch(settings: &mut Settings, section: &Section) {
    if let Some((on, origin)) = &section.enabled
        && (!on || (section.overridden && settings.bool("enabled")))
        && let Some((slot, _)) = settings.pattern().key("enabled")
    {
        settings.put(slot, Arc::new((Value::Bool(*on), origin.clone())));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::loaded;

    fn inline(values: &[(&str, Value)], base: Option<&str>) -> Inline {
        Inline {
            place: "src/pay.rs:7".into(),
            values: values.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect(),
            base_config: base.map(str::to_owned),
        }
    }

    fn attempts(config: &Loaded, name: &str, inline: &Inline) -> (u32, String) {
        let settings = config.resolve(Pattern::Retry, name, inline).unwrap();
        (settings.u32("max_attempts"), settings.origin("max_attempts").to_string())
    }

    #[test]
    fn an_attribute_lies_above_default_and_below_bases_and_instance() {
        let config = loaded(&[
            ("retry.configs.default.max_attempts", "2"),
            ("retry.configs.slow.max_attempts", "4"),
            ("retry.configs.other.wait_duration", "1s"),
            ("retry.instances.plain.wait_duration", "1s"),
            ("retry.instances.based.base_config", "slow"),
            ("retry.instances.own.max_attempts", "5"),
        ]);
        let three = [("max_attempts", Value::Integer(3))];
        for (name, base, wanted) in [
            ("undeclared", None, (3, "attribute at src/pay.rs:7")),
            ("plain", None, (3, "attribute at src/pay.rs:7")),
            ("plain", Some("slow"), (4, "code")),
            ("based", None, (4, "code")),
            ("based", Some("other"), (4, "code")), // the entry's base goes before the attribute's
            ("own", None, (5, "code")),
            ("undeclared", Some("default"), (3, "attribute at src/pay.rs:7")),
        ] {
            let (n, origin) = attempts(&config, name, &inline(&three, base));
            assert_eq!((n, origin.as_str()), wanted, "{name} {base:?}");
        }
    }

    #[test]
    fn an_undeclared_instance_runs_on_default() {
        let config = loaded(&[("retry.configs.default.max_attempts", "2")]);
        assert_eq!(attempts(&config, "x", &Inline::default()).0, 2);
        assert_eq!(attempts(&Loaded::default(), "x", &Inline::default()).0, 3);
    }

    #[test]
    fn every_mistake_of_an_attribute_is_told() {
        let wrong = inline(
            &[("max_attempts", Value::Integer(0)), ("max_atempts", Value::Integer(1))],
            Some("slo"),
        );
        let config = loaded(&[("retry.configs.slow.max_attempts", "4")]);
        let error = config.resolve(Pattern::Retry, "x", &wrong).unwrap_err();
        assert_eq!(
            error.to_string(),
            "3 problems in the configuration:\
             \n  - src/pay.rs:7: max_attempts = 0: expected a whole number from 1 to 4294967295\
             \n  - src/pay.rs:7: max_atempts: unknown key; did you mean `max_attempts`?\
             \n  - src/pay.rs:7: base_config = slo: unknown base_config; did you mean `slow`?"
        );
    }

    #[test]
    fn a_pattern_switched_off_is_off_for_attributes_too() {
        let config = loaded(&[("retry.enabled", "false")]);
        let on = inline(&[("enabled", Value::Bool(true))], None);
        assert!(!config.resolve(Pattern::Retry, "x", &on).unwrap().bool("enabled"));
    }
}
