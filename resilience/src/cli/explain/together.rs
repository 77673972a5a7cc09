//! What the patterns of one name come to around one call.

use std::time::Duration;

use super::{super::time::readable, Named, retry};
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
    let attempts = retry.max_attempts();
    let Some(waits) = retry::longest(retry) else {
        return vec![format!("{attempts} attempts bound nothing.")]
            .into_iter()
            .chain(bounded.then(|| total(retry, one)).flatten())
            .collect();
    };
    let sum = format!("{attempts} x ({formula}) + waits {}", readable(waits));
    if !bounded {
        return vec![format!("Nothing bounds how long a call takes: {sum}. A time limiter would.")];
    }
    let all = |waits| one.saturating_mul(attempts).saturating_add(waits);
    let mut told = vec![format!("A caller waits for at most {sum} = {}.", readable(all(waits)))];
    let stretched = retry::longest_as_asked(retry).map(all).map(|all| {
        format!("Were every wait as long as a `retry_after` may ask for: {}.", readable(all))
    });
    told.extend(total(retry, one).or(stretched));
    told
}

/// When `total_timeout` ends it, whatever the waits are.
fn total(retry: &RetryConfig, one: Duration) -> Option<String> {
    let total = retry.total_timeout()?;
    Some(format!(
        "By `total_timeout`, whatever waits a `retry_after` asks for: the last attempt starts by {} and \
         takes {}, which makes {}.",
        readable(total),
        readable(one),
        readable(total.saturating_add(one))
    ))
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
