use std::fmt;

use crate::config::Problem;

/// How much a [`Finding`] matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Severity {
    /// Works as documented, and surprises many.
    Hint,
    /// Hardly what was meant: the program starts all the same.
    Warning,
    /// Stops the start.
    Error,
}

impl Severity {
    /// The word for it: `hint`, `warning` or `error`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Severity::Hint => "hint",
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One thing that was found in a configuration: what it is, where, and what to write instead.
///
/// # Examples
///
/// ```
/// use resilience::config::{Config, Format, Severity};
///
/// let text = "circuitbreaker.instances.pay: { sliding_window_size: 5, minimum_number_of_calls: 10 }";
/// let config = Config::builder().env(false).text(text, Format::Yaml).load()?;
/// let report = config.report();
/// let finding = &report.findings()[0];
/// assert_eq!((finding.code, finding.severity), ("minimum_above_window", Severity::Warning));
/// assert_eq!(finding.place.as_deref(), Some("<text>:1"));
/// # Ok::<(), resilience::config::ConfigError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Finding {
    /// What it is, as one word that does not change: `slow_above_limit`.
    pub code: &'static str,
    /// How much it matters.
    pub severity: Severity,
    /// The key path, such as `circuitbreaker.instances.payment.slow_call_duration_threshold`.
    pub path: Option<String>,
    /// The value that is there.
    pub value: Option<String>,
    /// Where the value was written, such as `resilience.yaml:12` or an environment variable.
    pub place: Option<String>,
    /// What is wrong.
    pub message: String,
    /// What to write instead, where the message does not say so itself.
    pub instead: Option<String>,
}

impl Finding {
    /// What is no single value's.
    pub(crate) fn new(code: &'static str, severity: Severity, message: impl Into<String>) -> Self {
        Self {
            code,
            severity,
            path: None,
            value: None,
            place: None,
            message: message.into(),
            instead: None,
        }
    }

    /// A problem as something found.
    pub(crate) fn of(code: &'static str, severity: Severity, problem: Problem) -> Self {
        let Problem { place, path, value, message, .. } = problem;
        Self { code, severity, path, value, place, message, instead: None }
    }

    pub(crate) fn instead(mut self, instead: impl Into<String>) -> Self {
        self.instead = Some(instead.into());
        self
    }

    pub(crate) fn hint(mut self) -> Self {
        self.severity = Severity::Hint;
        self
    }
}

/// All but the severity, on one line.
impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut problem = Problem::new(&*self.message);
        problem.place.clone_from(&self.place);
        problem.path.clone_from(&self.path);
        problem.value.clone_from(&self.value);
        problem.fmt(f)?;
        match &self.instead {
            Some(instead) => write!(f, "; {instead}"),
            None => Ok(()),
        }
    }
}
