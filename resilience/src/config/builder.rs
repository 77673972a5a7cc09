use std::{ffi::OsString, fmt};

use resilience_config::Loader;

#[cfg(feature = "watch")]
use super::Content;
#[cfg(feature = "config")]
use super::Format;
use super::{Config, ConfigError};

/// Gathers the sources of a [`Config`]; nothing is read before [`load`](ConfigBuilder::load).
///
/// Later files win over earlier ones, value by value; [`set`](ConfigBuilder::set) wins over files
/// and the environment over both.
///
/// # Examples
///
/// ```
/// use resilience::config::{Config, Format};
///
/// let base = "retry.instances.payment.max_attempts = 3";
/// let config = Config::builder()
///     .text(base, Format::Properties)
///     .vars([("RESILIENCE_RETRY_INSTANCES_PAYMENT_MAX_ATTEMPTS", "5")])
///     .load()?;
/// let (path, value, origin) = &config.effective()[0];
/// assert_eq!(path, "retry.instances.payment.max_attempts");
/// assert_eq!(value.to_string(), "5");
/// assert_eq!(
///     origin.to_string(),
///     "environment RESILIENCE_RETRY_INSTANCES_PAYMENT_MAX_ATTEMPTS"
/// );
/// # Ok::<(), resilience::config::ConfigError>(())
/// ```
#[derive(Clone, Default)]
#[must_use = "nothing is read before `load`"]
pub struct ConfigBuilder {
    loader: Loader,
}

impl ConfigBuilder {
    pub(super) fn new() -> Self {
        Self::default()
    }

    /// Adds a file, read in the format that its extension names; later ones win. It must be a regular
    /// file, or a link to one: no pipe or device.
    #[cfg(feature = "config")]
    pub fn file(mut self, path: impl AsRef<std::path::Path>) -> Self {
        self.loader.file(path);
        self
    }

    /// The files, in the order in which they were added.
    #[cfg(feature = "watch")]
    pub(crate) fn files(&self) -> impl Iterator<Item = &std::path::Path> {
        self.loader.files()
    }

    /// Reads the files, in the same order.
    #[cfg(feature = "watch")]
    pub(crate) fn read(&self) -> Vec<Content> {
        self.loader.read()
    }

    /// The same with files that were read before, so that they cannot change between two looks.
    #[cfg(feature = "watch")]
    pub(crate) fn with_contents(&self, contents: &[Content]) -> Self {
        Self { loader: self.loader.with_contents(contents) }
    }

    /// Adds a text as if it were a file; errors name it `<text>`.
    #[cfg(feature = "config")]
    pub fn text(mut self, text: impl Into<String>, format: Format) -> Self {
        self.loader.text(text, format);
        self
    }

    /// Makes a profile active for documents with `spring.config.activate.on-profile`.
    ///
    /// Without any call, the profiles come from `RESILIENCE_PROFILES_ACTIVE`, else
    /// `SPRING_PROFILES_ACTIVE`, else from `spring.profiles.active` in the files.
    #[cfg(feature = "config")]
    pub fn profile(mut self, name: impl Into<String>) -> Self {
        self.loader.profile(name);
        self
    }

    /// Says whether the environment is read, for settings and for placeholders; `true` unless set.
    pub fn env(mut self, read: bool) -> Self {
        self.loader.env(read);
        self
    }

    /// Takes these variables for the environment instead of the process's.
    pub fn vars<K, V>(mut self, variables: impl IntoIterator<Item = (K, V)>) -> Self
    where
        K: Into<OsString>,
        V: Into<OsString>,
    {
        self.loader.vars(variables);
        self
    }

    /// Sets one value by its key path, such as `retry.instances.payment.max_attempts`; the instance
    /// is declared if it was not. The last value for a path counts.
    pub fn set(mut self, path: impl Into<String>, value: impl Into<String>) -> Self {
        self.loader.set(path, value);
        self
    }

    /// Says whether undeclared names and kinds stop the start; goes before what files say.
    pub fn strict(mut self, strict: bool) -> Self {
        self.loader.strict(strict);
        self
    }

    /// Names the program in its [metrics](crate::metrics), in 1 to 200 characters without control
    /// characters; goes before what the environment and files say.
    pub fn application(mut self, name: impl Into<String>) -> Self {
        self.loader.application(name);
        self
    }

    /// Reads and checks everything.
    ///
    /// # Errors
    ///
    /// Every problem of every source at once, by source and line.
    pub fn load(self) -> Result<Config, ConfigError> {
        Ok(Config::of(self.loader.load()?))
    }
}

/// Shows the sources, and no values.
impl fmt::Debug for ConfigBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.loader.fmt(f)
    }
}
