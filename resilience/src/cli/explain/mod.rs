//! `resilience explain`: what the instances of a name do, in sentences.

mod circuit_breaker;
mod limits;
mod retry;
mod together;
mod trial;

use std::{collections::BTreeMap, path::PathBuf, time::Duration};

use clap::Args;

use super::{Output, sources::Sources, time::readable};
use crate::{
    Bulkhead, BulkheadConfig, CircuitBreaker, CircuitBreakerConfig, Config, RateLimiter,
    RateLimiterConfig, Retry, RetryConfig, ThreadPoolBulkhead, ThreadPoolBulkheadConfig,
    TimeLimiter, TimeLimiterConfig,
    config::{ConfigError, Inline, Pattern, one_line, shorten},
    registry::Managed,
};

#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// The configuration file
    file: PathBuf,

    /// The name of the instance, in any spelling; those of all patterns are told of. Several where
    /// what protects one function has several
    #[arg(required = true, value_name = "INSTANCE")]
    instances: Vec<String>,

    #[command(flatten)]
    sources: Sources,
}

/// The end of a random range: the place next to it would be rounded up beyond.
const AT_MOST: f64 = 1.0 - 1e-12;

pub(super) fn run(arguments: &Arguments) -> Output {
    let told = arguments
        .sources
        .load([&arguments.file])
        .map_err(|error| error.to_string())
        .and_then(|config| explain(&config, &arguments.instances));
    told.map_or_else(Output::failure, Output::answer)
}

/// The settings of what protects one function, without what is switched off.
#[derive(Default)]
struct Named {
    retry: Option<RetryConfig>,
    circuit_breaker: Option<CircuitBreakerConfig>,
    rate_limiter: Option<RateLimiterConfig>,
    time_limiter: Option<TimeLimiterConfig>,
    bulkhead: Option<BulkheadConfig>,
    thread_pool: Option<ThreadPoolBulkheadConfig>,
}

impl Named {
    fn find(config: &Config, names: &Names<'_>) -> Result<Self, ConfigError> {
        Ok(Self {
            retry: of::<Retry>(config, names)?.filter(RetryConfig::is_enabled),
            circuit_breaker: of::<CircuitBreaker>(config, names)?
                .filter(CircuitBreakerConfig::is_enabled),
            rate_limiter: of::<RateLimiter>(config, names)?.filter(RateLimiterConfig::is_enabled),
            time_limiter: of::<TimeLimiter>(config, names)?.filter(TimeLimiterConfig::is_enabled),
            bulkhead: of::<Bulkhead>(config, names)?.filter(BulkheadConfig::is_enabled),
            thread_pool: of::<ThreadPoolBulkhead>(config, names)?
                .filter(ThreadPoolBulkheadConfig::is_enabled),
        })
    }
}

/// The name of the instance of each pattern, as it is declared.
type Names<'a> = BTreeMap<Pattern, &'a str>;

/// The settings of the instance of a pattern, if one is among the names.
fn of<T: Managed>(config: &Config, names: &Names<'_>) -> Result<Option<T::Config>, ConfigError> {
    let Some(name) = names.get(&T::PATTERN) else { return Ok(None) };
    let settings = config.loaded().resolve(T::PATTERN, name, &Inline::default())?;
    T::from_settings(&settings).map(Some).map_err(ConfigError::new)
}

/// Which instances the given names are of.
///
/// # Errors
///
/// A name that no pattern declares, and two of one pattern: a call passes one of each.
fn declared<'a>(config: &'a Config, given: &[String]) -> Result<Names<'a>, String> {
    let mut names = Names::new();
    for name in given {
        let mut is_declared = false;
        for &pattern in Pattern::ALL {
            let Some(spelled) = config.loaded().declared_name(pattern, name) else { continue };
            is_declared = true;
            if let Some(other) = names.insert(pattern, spelled)
                && other != spelled
            {
                return Err(format!(
                    "{pattern} has '{other}' and '{spelled}'; name those that protect one function"
                ));
            }
        }
        if !is_declared {
            return Err(nobody(config, name));
        }
    }
    Ok(names)
}

fn explain(config: &Config, given: &[String]) -> Result<String, String> {
    let names = declared(config, given)?;
    let settings = Named::find(config, &names).map_err(|error| error.to_string())?;
    let mut text = String::new();
    for pattern in Pattern::ALL {
        let Some(name) = names.get(pattern) else { continue };
        let sentences = match pattern {
            Pattern::Retry => settings.retry.as_ref().map(|one| retry::sentences(one, config)),
            Pattern::CircuitBreaker => {
                settings.circuit_breaker.as_ref().map(circuit_breaker::sentences)
            }
            Pattern::RateLimiter => settings.rate_limiter.as_ref().map(limits::rate),
            Pattern::TimeLimiter => settings
                .time_limiter
                .as_ref()
                .map(|one| limits::time(one, settings.thread_pool.is_some())),
            Pattern::Bulkhead => settings.bulkhead.as_ref().map(limits::bulkhead),
            Pattern::ThreadPoolBulkhead => settings.thread_pool.as_ref().map(limits::thread_pool),
        };
        let off = || vec!["It is switched off: every call passes.".to_owned()];
        section(&mut text, &format!("{pattern} '{name}'"), &sentences.unwrap_or_else(off));
    }
    section(&mut text, "together", &together::sentences(&settings));
    Ok(text)
}

fn section(text: &mut String, head: &str, sentences: &[String]) {
    if sentences.is_empty() {
        return;
    }
    if !text.is_empty() {
        text.push('\n');
    }
    text.push_str(head);
    text.push('\n');
    for sentence in sentences {
        text.push_str("  ");
        text.push_str(sentence);
        text.push('\n');
    }
}

fn nobody(config: &Config, name: &str) -> String {
    let near = Pattern::ALL.iter().find_map(|pattern| config.nearest_declared(*pattern, name));
    let hint = near.map(|near| format!("; did you mean '{near}'?")).unwrap_or_default();
    format!("no pattern declares an instance '{}'{hint}", one_line(&shorten(name)))
}

/// "5s", "2s to 8s".
fn between(least: Duration, most: Duration) -> String {
    if least == most {
        readable(least)
    } else {
        format!("{} to {}", readable(least), readable(most))
    }
}

/// "1 call", "2 calls".
fn count(n: u64, noun: &str) -> String {
    format!("{n} {noun}{}", if n == 1 { "" } else { "s" })
}
