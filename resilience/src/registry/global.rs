use std::{
    panic::Location,
    sync::{
        OnceLock,
        atomic::{AtomicBool, Ordering},
    },
};

use super::{Resilience, check};
use crate::config::{Config, ConfigError, Problem};

static GLOBAL: OnceLock<Resilience> = OnceLock::new();
static INITIALISED: AtomicBool = AtomicBool::new(false);

pub(super) fn registry() -> &'static Resilience {
    GLOBAL.get_or_init(Resilience::empty)
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
/// changed then.
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
    let caller = Location::caller();
    start(config, &check::Strict::CrateAround(caller.file()))
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
    start(config, &check::Strict::Crates(packages))
}

fn start(config: Config, strict: &check::Strict<'_>) -> Result<Resilience, ConfigError> {
    let warnings = check::at_start(&config, strict)?;
    if INITIALISED.swap(true, Ordering::AcqRel) {
        let message =
            "`resilience::init` was called twice; the registry is filled once per process";
        return Err(Problem::new(message).into());
    }
    let registry = registry();
    registry.inner.adopt(config);
    for warning in warnings {
        registry.inner.warn(warning);
    }
    Ok(registry.clone())
}
