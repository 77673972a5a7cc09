use std::fmt;

use resilience_config::Loaded;
use resilience_settings::{Pattern, Value};

use super::{
    ConfigBuilder, Finding, Inline, Origin, Report, Severity, Subject, Subjects, findings,
};
#[cfg(feature = "config")]
use super::{ConfigError, Format};

/// A configuration that was read and checked: what is declared, with the origin of every value.
///
/// The default one is empty: every instance works on built-in defaults. Clones share their content.
///
/// # Examples
///
/// ```
/// use resilience::config::{Config, Format, Pattern};
///
/// let text = "
/// retry:
///   instances:
///     payment: { max_attempts: 4, wait_duration: 200ms }
/// ";
/// let config = Config::from_str(text, Format::Yaml)?;
/// assert!(config.declares(Pattern::Retry, "payment"));
///
/// let error = Config::from_str(&text.replace("200ms", "fast"), Format::Yaml).unwrap_err();
/// assert!(error.to_string().starts_with("<text>:4: retry.instances.payment.wait_duration = fast:"));
/// # Ok::<(), resilience::config::ConfigError>(())
/// ```
#[derive(Clone, Default)]
pub struct Config {
    loaded: Loaded,
}

impl Config {
    pub(crate) fn of(loaded: Loaded) -> Self {
        Self { loaded }
    }

    /// What the loader has made of the sources.
    pub(crate) fn loaded(&self) -> &Loaded {
        &self.loaded
    }

    /// Starts a configuration from several sources.
    ///
    /// # Examples
    ///
    /// ```
    /// use resilience::config::{Config, Pattern};
    ///
    /// let config = Config::builder()
    ///     .env(false)
    ///     .set("retry.instances.payment.max_attempts", "4")
    ///     .load()?;
    /// assert!(config.declares(Pattern::Retry, "payment"));
    /// # Ok::<(), resilience::config::ConfigError>(())
    /// ```
    pub fn builder() -> ConfigBuilder {
        ConfigBuilder::new()
    }

    /// Reads one file, in the format that its extension names, and the environment over it.
    ///
    /// # Errors
    ///
    /// Every problem at once: a missing or unreadable file, a text that is not of its format,
    /// unknown keys, values out of range.
    #[cfg(feature = "config")]
    pub fn from_file(path: impl AsRef<std::path::Path>) -> Result<Config, ConfigError> {
        Self::builder().file(path).load()
    }

    /// Reads a text, and the environment over it.
    ///
    /// # Errors
    ///
    /// Every problem at once, as with [`from_file`](Config::from_file).
    #[cfg(feature = "config")]
    pub fn from_str(text: &str, format: Format) -> Result<Config, ConfigError> {
        Self::builder().text(text, format).load()
    }

    /// What was read and will surprise: settings without effect, old keys, unknown variables.
    pub fn warnings(&self) -> &[String] {
        self.loaded.warnings()
    }

    /// Everything that is questionable in what was read: the [warnings](Config::warnings), and settings
    /// that contradict each other.
    ///
    /// Which instances protect one call is not known without the program: those of equal names are
    /// taken to. [`Resilience::report`](crate::Resilience::report) knows it.
    pub fn report(&self) -> Report {
        let subjects = Subjects::of(self);
        let severity = if self.is_strict() { Severity::Error } else { Severity::Warning };
        let undeclared: Vec<Subject> = [Pattern::CircuitBreaker, Pattern::Retry]
            .into_iter()
            .filter_map(|pattern| self.loaded().resolve(pattern, "", &Inline::default()).ok())
            .map(Subject::undeclared)
            .collect();
        let classes = findings::class_for_kind::check(&subjects, &undeclared, severity);
        self.warnings_found().chain(classes).chain(findings::of(&subjects)).collect()
    }

    /// The warnings as findings.
    pub(crate) fn warnings_found(&self) -> impl Iterator<Item = Finding> {
        let warnings = self.warnings().iter();
        warnings.map(|text| Finding::new("reading", Severity::Warning, text.as_str()))
    }

    /// Whether names and kinds that are used but not declared stop the start.
    pub fn is_strict(&self) -> bool {
        self.loaded.is_strict()
    }

    /// What the program is called in its [metrics](crate::metrics), if a source says so.
    pub fn application(&self) -> Option<&str> {
        self.loaded.application()
    }

    /// The declared instances of a pattern, as they are spelled, in the order of declaration.
    pub fn instances(&self, pattern: Pattern) -> impl Iterator<Item = &str> {
        self.loaded.instances(pattern)
    }

    /// Whether an instance is declared under this name; case and separators do not count.
    pub fn declares(&self, pattern: Pattern, name: &str) -> bool {
        self.loaded.declares(pattern, name)
    }

    /// The declared name most like `name`, if one is near enough to be what was meant.
    pub fn nearest_declared(&self, pattern: Pattern, name: &str) -> Option<&str> {
        self.loaded.nearest_declared(pattern, name)
    }

    /// The declared retry budgets, as they are spelled, in the order of declaration.
    pub fn retry_budgets(&self) -> impl Iterator<Item = &str> {
        self.loaded.retry_budgets()
    }

    /// Every setting of every declared instance and retry budget: its key path, value and origin.
    ///
    /// Arguments of attributes are not in it: they belong to the code, not to the configuration.
    pub fn effective(&self) -> Vec<(String, Value, Origin)> {
        self.loaded.effective()
    }
}

/// Shows what is declared, and no values.
impl fmt::Debug for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.loaded.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handles_can_be_shared_between_threads() {
        fn shared<T: Clone + Send + Sync + fmt::Debug>() {}
        shared::<Config>();
        shared::<ConfigBuilder>();
    }
}
