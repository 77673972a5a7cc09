//! What the program is called in its metrics.

use std::{
    env,
    sync::{Arc, LazyLock},
};

use resilience_settings::MAX_NAME_CHARS;

use super::Resilience;

/// For a configuration that names none.
static OF_EXECUTABLE: LazyLock<Arc<str>> = LazyLock::new(|| {
    let path = env::current_exe().unwrap_or_default();
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let name: String = stem.chars().filter(|c| !c.is_control()).take(MAX_NAME_CHARS).collect();
    if name.is_empty() { "unknown".into() } else { name.into() }
});

impl Resilience {
    /// Returns the name of the program, which is the label `application` of its
    /// [metrics](crate::metrics).
    ///
    /// It is the one of the configuration in force:
    /// [`application`](crate::config::ConfigBuilder::application), else the variable
    /// `RESILIENCE_APPLICATION`, else `spring.application.name` in a file; where none is given, the name
    /// of the executable without its extension. A reload may change it; that is not among its
    /// [changes](super::Reload::changes). The default configuration reads no environment.
    ///
    /// # Examples
    ///
    /// ```
    /// use resilience::{Config, Resilience};
    ///
    /// let registry = Resilience::from_config(Config::builder().application("orders").load()?)?;
    /// assert_eq!(&*registry.application(), "orders");
    /// # Ok::<(), resilience::ConfigError>(())
    /// ```
    pub fn application(&self) -> Arc<str> {
        let in_force = self.inner.in_force();
        let configured = in_force.config.loaded().application_name();
        Arc::clone(configured.unwrap_or(&OF_EXECUTABLE))
    }
}
