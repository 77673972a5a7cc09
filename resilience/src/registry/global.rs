use std::{panic::Location, sync::OnceLock};

use super::{Resilience, check::Strict};
use crate::config::{Config, ConfigError};

static GLOBAL: OnceLock<Resilience> = OnceLock::new();

pub(super) fn registry() -> &'static Resilience {
    GLOBAL.get_or_init(Resilience::of_process)
}

/// The process registry. Before [`init`] it holds no configuration: every name works on its
/// built-in defaults and inline settings.
///
/// # Examples
///
/// ```
/// let breaker = resilience::global().circuit_breaker("payment");
/// assert_eq!(breaker.name(), "payment");
/// ```
pub fn global() -> Resilience {
    registry().clone()
}

/// Fills the process registry from a configuration and checks it against every annotated function
/// of the program.
///
/// Call it once at the start, before the first protected call where possible: instances that were
/// used before are reconfigured in place.
///
/// With `strict: true` in the configuration, names that the calling package uses and nobody declares
/// are errors; other packages' are warnings. See [`init_for`] to name the packages.
///
/// # Errors
///
/// Everything that is wrong, at once: contradicting settings, inline settings that differ for one
/// instance, names that collide, a record list that matches nothing, a second `init`. Nothing is
/// changed then. [`Resilience::reload`] is for another configuration later on.
///
/// # Examples
///
/// ```
/// use resilience::{Config, config::Format};
///
/// let config = Config::from_str("circuitbreaker.instances.payment: {}", Format::Yaml)?;
/// let registry = resilience::init(config)?;
/// assert!(registry.find_circuit_breaker("payment").is_some());
/// # Ok::<(), resilience::ConfigError>(())
/// ```
#[track_caller]
pub fn init(config: Config) -> Result<Resilience, ConfigError> {
    start(config, Strict::CrateAround(Location::caller().file()))
}

/// Like [`init`], with `strict: true` acting on the functions of these packages.
///
/// # Errors
///
/// As [`init`].
///
/// # Examples
///
/// ```
/// use resilience::Config;
///
/// resilience::init_for(Config::default(), &["order-service", "payment-client"])?;
/// # Ok::<(), resilience::ConfigError>(())
/// ```
pub fn init_for(config: Config, packages: &[&str]) -> Result<Resilience, ConfigError> {
    start(config, Strict::Crates(packages.iter().map(|&package| package.to_owned()).collect()))
}

fn start(config: Config, strict: Strict) -> Result<Resilience, ConfigError> {
    let registry = registry();
    registry.inner.start(config, strict)?;
    Ok(registry.clone())
}
