use std::{fmt, time::Duration};

use redis::IntoConnectionInfo;
use resilience_config::StoreSettings;
use resilience_settings::{Addresses, Key, Value, schema};

use crate::config::{ConfigError, Problem};

/// The checked settings of a [`Store`](super::Store).
///
/// | setting | default | range |
/// |---|---|---|
/// | `urls` | required | 1 to 100 addresses `redis://[user:password@]host[:port][/database]` |
/// | `namespace` | required | 1 to 100 letters, digits and `- _ . :` |
/// | `cluster` | false; true with several addresses | |
/// | `decision_timeout` | 50 ms | 1 ms to 10 s |
/// | `connect_timeout` | 1 s | 10 ms to 60 s |
/// | `nodes` | 1 | 1 to 100,000 |
///
/// An address may hold a password: it is never shown, not in errors and not in `Debug`.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use resilience::store::StoreConfig;
///
/// let config = StoreConfig::builder(["redis://127.0.0.1:6379"], "shop").nodes(3).build()?;
/// assert_eq!(config.decision_timeout(), Duration::from_millis(50));
/// # Ok::<(), resilience::ConfigError>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct StoreConfig {
    urls: Vec<String>,
    namespace: String,
    cluster: bool,
    decision_timeout: Duration,
    connect_timeout: Duration,
    nodes: u32,
}

impl StoreConfig {
    /// Starts from the addresses of the server, or of some nodes of a cluster, and the namespace that
    /// all keys begin with, such as the name of the application and its environment.
    pub fn builder(
        urls: impl IntoIterator<Item = impl Into<String>>,
        namespace: impl Into<String>,
    ) -> StoreConfigBuilder {
        StoreConfigBuilder {
            config: StoreConfig {
                urls: urls.into_iter().map(Into::into).collect(),
                namespace: namespace.into(),
                cluster: false,
                decision_timeout: Duration::from_millis(50),
                connect_timeout: Duration::from_secs(1),
                nodes: 1,
            },
        }
    }

    /// Returns what all keys begin with.
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// Returns whether the addresses are those of a cluster.
    pub fn is_cluster(&self) -> bool {
        self.cluster
    }

    /// Returns how long one decision may take.
    pub fn decision_timeout(&self) -> Duration {
        self.decision_timeout
    }

    /// Returns how long an attempt to connect may take. Decisions do not wait longer for it than
    /// [`decision_timeout`](Self::decision_timeout).
    pub fn connect_timeout(&self) -> Duration {
        self.connect_timeout
    }

    /// Returns how many processes share the limits: this one's share is taken while the store is away.
    pub fn nodes(&self) -> u32 {
        self.nodes
    }

    pub(super) fn urls(&self) -> &[String] {
        &self.urls
    }

    /// The settings under `redis` in a configuration.
    pub(crate) fn from_settings(settings: &StoreSettings) -> Result<Self, ConfigError> {
        let mut builder = Self::builder(settings.urls(), settings.namespace())
            .decision_timeout(settings.decision_timeout())
            .connect_timeout(settings.connect_timeout())
            .nodes(settings.nodes());
        if let Some(on) = settings.cluster() {
            builder = builder.cluster(on);
        }
        let at_its_place = |problem: &Problem| {
            let mut problem = problem.clone();
            let path = problem.path.unwrap_or_default();
            problem.place = settings.place(path.split('[').next().unwrap_or_default());
            problem.path = Some(format!("redis.{path}"));
            problem
        };
        builder
            .build()
            .map_err(|error| ConfigError::new(error.problems().iter().map(at_its_place).collect()))
    }

    fn problems(&self) -> Vec<Problem> {
        let values = [
            ("urls", Value::Addresses(Addresses::new(&self.urls))),
            ("namespace", Value::Word(self.namespace.clone())),
            ("decision_timeout", Value::Duration(self.decision_timeout)),
            ("connect_timeout", Value::Duration(self.connect_timeout)),
            ("nodes", Value::Integer(self.nodes.into())),
        ];
        let out_of_range = values.into_iter().filter_map(|(name, value)| out_of_range(name, value));
        let mut problems: Vec<Problem> = out_of_range.collect();
        if problems.iter().all(|problem| problem.path.as_deref() != Some("urls")) {
            problems.extend(self.urls.iter().enumerate().filter_map(|(index, url)| {
                // The address itself may hold a password.
                Some(Problem::new(unusable(url)?).path(format!("urls[{index}]")))
            }));
        }
        problems
    }
}

/// Checks a value as the section `redis` of a file is checked.
fn out_of_range(name: &str, value: Value) -> Option<Problem> {
    let (_, key) = Key::find(schema::REDIS, name)?;
    let shown = value.to_string();
    let error = key.ty.check(value).err()?;
    let problem = Problem::new(error.to_string()).path(name);
    Some(if key.is_secret() { problem } else { problem.value(shown) })
}

impl fmt::Debug for StoreConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoreConfig")
            .field("urls", &format_args!("{} not shown", self.urls.len()))
            .field("namespace", &self.namespace)
            .field("cluster", &self.cluster)
            .field("decision_timeout", &self.decision_timeout)
            .field("connect_timeout", &self.connect_timeout)
            .field("nodes", &self.nodes)
            .finish()
    }
}

/// Collects settings for a [`StoreConfig`], which lists defaults and ranges.
#[derive(Debug, Clone)]
#[must_use = "a builder does nothing until `build`"]
pub struct StoreConfigBuilder {
    config: StoreConfig,
}

impl StoreConfigBuilder {
    /// Sets whether the addresses are those of a cluster; several addresses always are.
    pub fn cluster(mut self, on: bool) -> Self {
        self.config.cluster = on;
        self
    }

    /// Sets how long one decision may take: 1 ms to 10 s; 50 ms by default.
    pub fn decision_timeout(mut self, timeout: Duration) -> Self {
        self.config.decision_timeout = timeout;
        self
    }

    /// Sets how long an attempt to connect may take: 10 ms to 60 s; 1 s by default.
    pub fn connect_timeout(mut self, timeout: Duration) -> Self {
        self.config.connect_timeout = timeout;
        self
    }

    /// Sets how many processes share the limits: 1 to 100,000; 1 by default.
    pub fn nodes(mut self, nodes: u32) -> Self {
        self.config.nodes = nodes;
        self
    }

    /// Checks the settings.
    ///
    /// # Errors
    ///
    /// Every setting that is out of its range; an address is not shown, as it may hold a password.
    pub fn build(self) -> Result<StoreConfig, ConfigError> {
        let problems = self.config.problems();
        if !problems.is_empty() {
            return Err(ConfigError::new(problems));
        }
        let cluster = self.config.cluster || self.config.urls.len() > 1;
        Ok(StoreConfig { cluster, ..self.config })
    }
}

fn unusable(url: &str) -> Option<String> {
    let with_tls = ["rediss://", "valkeys://"].into_iter().any(|scheme| url.starts_with(scheme));
    if with_tls && cfg!(not(feature = "redis-tls")) {
        return Some("an address with TLS needs the feature `redis-tls` of resilience".into());
    }
    url.into_connection_info().err().map(|_| {
        "expected redis://[user:password@]host[:port][/database]; `%40` stands for an `@` in a \
         password"
            .into()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(builder: StoreConfigBuilder) -> Vec<String> {
        let error = builder.build().expect_err("a setting is wrong");
        error.problems().iter().filter_map(|problem| problem.path.clone()).collect()
    }

    fn builder() -> StoreConfigBuilder {
        StoreConfig::builder(["redis://127.0.0.1:6379"], "shop")
    }

    #[test]
    fn every_setting_that_is_out_of_range_is_told_at_once() {
        let wrong = StoreConfig::builder(["http://x"], "a b")
            .decision_timeout(Duration::ZERO)
            .connect_timeout(Duration::from_secs(61))
            .nodes(0);
        let told = ["urls", "namespace", "decision_timeout", "connect_timeout", "nodes"];
        assert_eq!(refused(wrong), told);
        assert_eq!(refused(StoreConfig::builder([""; 0], "shop")), ["urls"]);
        assert_eq!(refused(StoreConfig::builder(["redis://a", "redis://:x"], "shop")), ["urls[1]"]);
    }

    #[test]
    fn a_password_is_shown_nowhere() {
        let config = StoreConfig::builder(["redis://:sesame@127.0.0.1"], "shop").build().unwrap();
        assert!(!format!("{config:?}").contains("sesame"));
        let error = StoreConfig::builder(["redis://:sesame@:x"], "shop").build().unwrap_err();
        assert!(!format!("{error} {error:?}").contains("sesame"), "{error}");
    }

    #[test]
    fn several_addresses_are_those_of_a_cluster() {
        assert!(!builder().build().unwrap().is_cluster());
        assert!(builder().cluster(true).build().unwrap().is_cluster());
        let two = StoreConfig::builder(["redis://a", "redis://b"], "shop");
        assert!(two.build().unwrap().is_cluster());
    }

    #[cfg(not(feature = "redis-tls"))]
    #[test]
    fn an_address_with_tls_names_the_feature_that_it_needs() {
        let error = StoreConfig::builder(["rediss://a"], "shop").build().unwrap_err();
        assert!(error.to_string().contains("redis-tls"), "{error}");
    }
}
