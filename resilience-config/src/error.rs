use std::fmt;

/// Everything that is wrong with a configuration, all at once.
///
/// # Examples
///
/// ```
/// use resilience::CircuitBreakerConfig;
///
/// let error = CircuitBreakerConfig::builder().failure_rate_threshold(101.0).build().unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "failure_rate_threshold = 101: expected a number above 0 and up to 100"
/// );
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct ConfigError {
    problems: Vec<Problem>,
}

/// One thing that is wrong: where, what was found and what to write instead.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Problem {
    /// Where the value was written, such as `resilience.yaml:12` or an environment variable.
    pub place: Option<String>,
    /// The key path, such as `circuitbreaker.instances.paymentCb.failure_rate_threshold`.
    pub path: Option<String>,
    /// The value as it was written.
    pub value: Option<String>,
    /// What is wrong and what would be allowed.
    pub message: String,
}

impl Problem {
    /// A problem that is no single value's.
    #[doc(hidden)] // users are told of problems, and make none
    pub fn new(message: impl Into<String>) -> Self {
        Self { place: None, path: None, value: None, message: message.into() }
    }

    /// The same with the place where it was written.
    #[doc(hidden)]
    #[must_use]
    pub fn place(mut self, place: impl Into<String>) -> Self {
        self.place = Some(place.into());
        self
    }

    /// The same with the key path.
    #[doc(hidden)]
    #[must_use]
    pub fn path(mut self, path: impl Into<String>) -> Self {
        self.path = Some(path.into());
        self
    }

    /// The same with the value that is there.
    #[doc(hidden)]
    #[must_use]
    pub fn value(mut self, value: impl Into<String>) -> Self {
        self.value = Some(value.into());
        self
    }
}

impl ConfigError {
    /// All of them at once; `problems` must not be empty.
    #[doc(hidden)]
    pub fn new(problems: Vec<Problem>) -> Self {
        debug_assert!(!problems.is_empty());
        Self { problems }
    }

    /// As it is shown, but no more than the first of many problems.
    #[doc(hidden)]
    pub fn first(&self, most: usize) -> impl fmt::Display {
        fmt::from_fn(move |f| self.show(f, most))
    }

    fn show(&self, f: &mut fmt::Formatter<'_>, most: usize) -> fmt::Result {
        if let [only] = self.problems.as_slice() {
            return write!(f, "{only}");
        }
        write!(f, "{} problems in the configuration:", self.problems.len())?;
        for problem in self.problems.iter().take(most) {
            write!(f, "\n  - {problem}")?;
        }
        if self.problems.len() > most { f.write_str("\n  - …") } else { Ok(()) }
    }

    /// The problems in the order in which they were found.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }
}

impl From<Problem> for ConfigError {
    fn from(problem: Problem) -> Self {
        Self::new(vec![problem])
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(place) = &self.place {
            write!(f, "{place}: ")?;
        }
        match (&self.path, &self.value) {
            (Some(path), Some(value)) => write!(f, "{path} = {}: ", value.escape_debug())?,
            (Some(path), None) => write!(f, "{path}: ")?,
            (None, _) => {}
        }
        f.write_str(&self.message)
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.show(f, usize::MAX)
    }
}

/// As [`Display`](fmt::Display): a `main` that returns the error shows it this way.
impl fmt::Debug for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for ConfigError {}
