use super::scenario::{Names, Scenario, StackNames};
use crate::{
    Config, RateLimiter, Resilience, Stack,
    config::{Pattern, one_line, shorten},
    rate_limiter::{Algorithm, Refill, Scope},
};

/// As many attempts all calls may make together: nothing else bounds the work of those that never wait.
const MOST_ATTEMPTS: f64 = 2_000_000.0;

/// The instances of the scenario, in the order in which attributes compose them.
pub(super) fn build(registry: &Resilience, scenario: &Scenario) -> Result<(Stack, Names), String> {
    let config = registry.config();
    let names = match &scenario.stack {
        StackNames::All(name) => of_one_name(&config, name)?,
        StackNames::Each(names) => declared(&config, names)?,
    };
    let mut stack = registry.stack();
    if let Some(name) = &names.retry {
        let attempts = registry.retry(name).config().max_attempts();
        if scenario.calls() * f64::from(attempts) > MOST_ATTEMPTS {
            return Err(format!(
                "about {:.0} calls with up to {attempts} attempts each, by retry '{name}', are more than \
                 a simulation takes: {MOST_ATTEMPTS} attempts",
                scenario.calls()
            ));
        }
        stack = stack.retry(name.as_str());
    }
    if let Some(name) = &names.circuit_breaker {
        stack = stack.circuit_breaker(name.as_str());
    }
    if let Some(name) = &names.rate_limiter {
        alone(&registry.rate_limiter(name))?;
        stack = stack.rate_limiter(name.as_str());
    }
    if let Some(name) = &names.time_limiter {
        stack = stack.time_limiter(name.as_str());
    }
    if let Some(name) = &names.bulkhead {
        stack = stack.bulkhead(name.as_str());
    }
    Ok((stack.build(), names))
}

/// A simulation is of one process: it has the limit of all for itself, and counts as the store would.
fn alone(limiter: &RateLimiter) -> Result<(), String> {
    let config = limiter.config();
    if config.scope() == Scope::Global {
        let refill = match config.algorithm() {
            Algorithm::FixedWindow => Refill::Interval,
            Algorithm::Gcra => Refill::Greedy,
        };
        let local = config.to_builder().scope(Scope::Local).refill(refill).build();
        drop(limiter.reconfigure(local.map_err(|error| error.to_string())?));
    }
    Ok(())
}

fn of_one_name(config: &Config, name: &str) -> Result<Names, String> {
    let of = |pattern| config.declares(pattern, name).then(|| name.to_owned());
    let names = Names {
        retry: of(Pattern::Retry),
        circuit_breaker: of(Pattern::CircuitBreaker),
        rate_limiter: of(Pattern::RateLimiter),
        time_limiter: of(Pattern::TimeLimiter),
        bulkhead: of(Pattern::Bulkhead),
    };
    // Its calls take the time of real threads.
    if config.declares(Pattern::ThreadPoolBulkhead, name) {
        return Err(format!(
            "`stack`: '{}' has a thread pool, which cannot be simulated; name the others one by one, as \
             in `{{ retry: …, circuit_breaker: … }}`",
            one_line(&shorten(name))
        ));
    }
    if each(&names).all(|(_, name)| name.is_none()) {
        return Err(format!(
            "`stack`: no pattern declares an instance '{}'",
            one_line(&shorten(name))
        ));
    }
    Ok(names)
}

fn declared(config: &Config, names: &Names) -> Result<Names, String> {
    for (pattern, name) in each(names) {
        if let Some(name) = name.filter(|name| !config.declares(pattern, name)) {
            let near = config.nearest_declared(pattern, name);
            let hint = near.map(|near| format!("; did you mean '{near}'?")).unwrap_or_default();
            let name = one_line(&shorten(name));
            return Err(format!("`stack`: {pattern} '{name}' is not declared{hint}"));
        }
    }
    Ok(names.clone())
}

fn each(names: &Names) -> impl Iterator<Item = (Pattern, Option<&str>)> {
    [
        (Pattern::Retry, names.retry.as_deref()),
        (Pattern::CircuitBreaker, names.circuit_breaker.as_deref()),
        (Pattern::RateLimiter, names.rate_limiter.as_deref()),
        (Pattern::TimeLimiter, names.time_limiter.as_deref()),
        (Pattern::Bulkhead, names.bulkhead.as_deref()),
    ]
    .into_iter()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::{RateLimiterConfig, rate_limiter::OnStoreFailure};

    #[test]
    fn a_global_limit_is_that_of_the_process_that_is_simulated() {
        let config = RateLimiterConfig::builder()
            .limit_for_period(3)
            .limit_refresh_period(Duration::from_hours(1))
            .scope(Scope::Global)
            .on_store_failure(OnStoreFailure::Closed)
            .build();
        let limiter = RateLimiter::new("orders", config.unwrap());
        alone(&limiter).unwrap();
        let admitted = (0..9).filter(|_| limiter.try_acquire(1).is_ok()).count();
        assert_eq!(admitted, 3);
    }
}
