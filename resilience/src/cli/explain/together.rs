//! What the patterns of one name come to around one call.

use std::time::Duration;

use super::{super::time::readable, Named, circuit_breaker, retry};
use crate::RetryConfig;

/// The longest time that one call takes in a layer; none where nothing bounds it.
struct Term {
    text: String,
    time: Duration,
}

impl Term {
    fn new(what: &str, time: Duration) -> Self {
        Self { text: format!("{what} {}", readable(time)), time }
    }
}

/// Nothing where there is one pattern only.
pub(super) fn sentences(named: &Named) -> Vec<String> {
    let layers = layers(named);
    if layers.len() < 2 {
        return Vec::new();
    }
    let mut told = vec![format!("{}body{}", layers.join("( ") + "( ", " )".repeat(layers.len()))];
    told.extend(latency(named));
    told
}

/// The layers in the order in which attributes compose them.
fn layers(named: &Named) -> Vec<&'static str> {
    [
        (named.retry.is_some(), "retry"),
        (named.circuit_breaker.is_some(), "circuit breaker"),
        (named.rate_limiter.is_some(), "rate limiter"),
        (named.time_limiter.is_some(), "time limiter"),
        (named.bulkhead.is_some() || named.thread_pool.is_some(), "bulkhead"),
    ]
    .into_iter()
    .filter_map(|(is_there, name)| is_there.then_some(name))
    .collect()
}

/// The longest that a caller waits, with the formula.
fn latency(named: &Named) -> Vec<String> {
    let attempt = attempt(named);
    let formula = attempt.iter().map(|term| term.text.as_str()).collect::<Vec<_>>().join(" + ");
    let one = attempt.iter().fold(Duration::ZERO, |sum, term| sum.saturating_add(term.time));
    let bounded = named.time_limiter.is_some();
    let retry = named.retry.as_ref().filter(|retry| retry.max_attempts() > 1);
    let Some(retry) = retry else {
        return vec![if bounded {
            format!("A caller waits for at most {formula} = {}.", readable(one))
        } else {
            format!("Nothing bounds how long a call takes: {formula}. A time limiter would.")
        }];
    };
    let (attempts, asked) = (retry.max_attempts(), Asked::of(named, retry));
    let waits = retry::longest(retry, asked.longest);
    let all = |waits: Duration| one.saturating_mul(attempts).saturating_add(waits);
    let sum = match waits {
        Some(waits) => format!("{attempts} x ({formula}) + waits {}", readable(waits)),
        None => format!("{attempts} x ({formula}) + waits too many to add up"),
    };
    if !bounded {
        return vec![format!("Nothing bounds how long a call takes: {sum}. A time limiter would.")];
    }
    let total = retry.total_timeout();
    let by_attempts = waits.map(all);
    let by_total = total.map(|total| total.saturating_add(one));
    match (by_attempts, total, by_total) {
        (Some(longest), _, by_total) if by_total.is_none_or(|by_total| longest <= by_total) => {
            let mut told =
                vec![format!("A caller waits for at most {sum} = {}.", readable(longest))];
            told.extend(asked.sentence(retry));
            told.extend(stretched(retry, all, longest, by_total));
            told
        }
        (_, Some(total), Some(by_total)) => vec![format!(
            "A caller waits for at most `total_timeout` {} + {formula} = {}: no attempt starts later, \
             whatever waits a `retry_after` asks for.",
            readable(total),
            readable(by_total)
        )],
        _ => vec![format!("Hardly a bound: {sum}. A `total_timeout` would be one.")],
    }
}

/// The longest once errors say `retry_after`, where that is longer.
fn stretched(
    retry: &RetryConfig,
    all: impl Fn(Duration) -> Duration,
    longest: Duration,
    by_total: Option<Duration>,
) -> Option<String> {
    let asked = all(retry::longest(retry, Duration::MAX)?);
    let most = by_total.map_or(asked, |by_total| by_total.min(asked));
    (most > longest).then(|| {
        let most = readable(most);
        format!("Were every wait as long as a `retry_after` of an error may ask for: {most}.")
    })
}

/// How long the stack's own refusals ask a retry to wait, where they are retried.
struct Asked {
    longest: Duration,
    by: &'static str,
}

impl Asked {
    fn of(named: &Named, retry: &RetryConfig) -> Self {
        // What is refused would have to wait for longer than it may, by a period at most.
        let limiter = named.rate_limiter.as_ref().map(|limiter| {
            limiter.timeout_duration().saturating_add(limiter.limit_refresh_period())
        });
        let breaker = named
            .circuit_breaker
            .as_ref()
            .map(|breaker| circuit_breaker::longest_open(breaker).unwrap_or(Duration::MAX));
        let both = [
            (limiter, "request_not_permitted", "rate limiter"),
            (breaker, "call_not_permitted", "open circuit breaker"),
        ];
        both.into_iter()
            .filter(|(_, kind, _)| retry::retries(retry, kind))
            .filter_map(|(longest, _, by)| Some(Self { longest: longest?, by }))
            .max_by_key(|asked| asked.longest)
            .unwrap_or(Self { longest: Duration::ZERO, by: "" })
    }

    /// Says so where it makes waits longer.
    fn sentence(&self, retry: &RetryConfig) -> Option<String> {
        let plain = retry::longest(retry, Duration::ZERO)?;
        (retry::longest(retry, self.longest)? > plain).then(|| {
            format!(
                "What the {} refuses is retried too, and asks for waits of up to {}.",
                self.by,
                readable(self.longest.min(retry.retry_after_max()))
            )
        })
    }
}

/// What one attempt takes. The time limit includes the wait for a slot, and not that for a turn.
fn attempt(named: &Named) -> Vec<Term> {
    let mut terms = Vec::new();
    if let Some(limiter) = &named.rate_limiter {
        terms.push(Term::new("turn", limiter.timeout_duration()));
    }
    if let Some(limiter) = &named.time_limiter {
        terms.push(Term::new("limit", limiter.timeout_duration()));
        return terms;
    }
    if let Some(bulkhead) = &named.bulkhead {
        terms.push(Term::new("slot", bulkhead.max_wait_duration()));
    }
    if named.thread_pool.is_some() {
        terms.push(Term { text: "the time in the queue".to_owned(), time: Duration::ZERO });
    }
    terms.push(Term { text: "the callee's time".to_owned(), time: Duration::ZERO });
    terms
}
