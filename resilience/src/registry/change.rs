use std::fmt;

use resilience_settings::Value;

use crate::config::{Origin, one_line, shorten};

/// What a [reload](crate::Resilience::reload) has changed.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Reload {
    /// Every setting of an instance or a retry budget that has another value now, by pattern and name,
    /// of those that are declared or in use; a value that has only moved to another line is no change.
    pub changes: Vec<Change>,
}

/// Each change on a line of its own, or that there is none.
impl fmt::Display for Reload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some((first, rest)) = self.changes.split_first() else {
            return f.write_str("no setting has changed");
        };
        write!(f, "{first}")?;
        rest.iter().try_for_each(|change| write!(f, "\n{change}"))
    }
}

/// One setting that has another value after a [reload](crate::Resilience::reload).
///
/// # Examples
///
/// ```
/// use resilience::{Config, Resilience, config::Format};
///
/// let registry = Resilience::from_config(Config::from_str(
///     "retry.instances.payment.max_attempts: 3",
///     Format::Yaml,
/// )?)?;
/// let config = Config::from_str("retry.instances.payment.max_attempts: 4", Format::Yaml)?;
/// let reload = registry.reload(config)?;
/// assert_eq!(
///     reload.changes[0].to_string(),
///     "retry.instances.payment.max_attempts: 3 (<text>:1) -> 4 (<text>:1)"
/// );
/// # Ok::<(), resilience::ConfigError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Change {
    /// The key path, such as `retry.instances.payment.max_attempts`.
    pub path: String,
    /// The value before and where it came from; `None` where nothing was set and there is no default.
    pub old: Option<(Value, Origin)>,
    /// The value now and where it comes from.
    pub new: Option<(Value, Origin)>,
}

/// On one line; long values are cut.
impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, old, new } = self;
        write!(f, "{}: {} -> {}", one_line(path), Shown(old.as_ref()), Shown(new.as_ref()))
    }
}

struct Shown<'a>(Option<&'a (Value, Origin)>);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some((value, origin)) = self.0 else { return f.write_str("unset") };
        let place = origin.place().unwrap_or_else(|| origin.to_string());
        write!(f, "{} ({})", one_line(&shorten(&value.to_string())), one_line(&place))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reload_shows_its_changes_line_by_line() {
        let change = |path: &str| Change {
            path: path.into(),
            old: None,
            new: Some((Value::Integer(3), Origin::Code)),
        };
        assert_eq!(Reload { changes: Vec::new() }.to_string(), "no setting has changed");
        let reload = Reload { changes: vec![change("a"), change("b")] };
        assert_eq!(reload.to_string(), "a: unset -> 3 (code)\nb: unset -> 3 (code)");
    }

    #[test]
    fn a_change_is_one_line_of_bounded_length() {
        let kinds: Vec<String> = (0..1000).map(|n| format!("kind\n{n}")).collect();
        let change = Change {
            path: "retry.instances.a.retry_errors".into(),
            old: None,
            new: Some((Value::Kinds(kinds.into()), Origin::Default)),
        };
        let text = change.to_string();
        assert!(text.starts_with("retry.instances.a.retry_errors: unset -> [kind\\n0, "), "{text}");
        assert!(text.ends_with("… (default)"), "{text}");
        assert!(text.lines().count() == 1 && text.len() < 400, "{text}");
    }
}
