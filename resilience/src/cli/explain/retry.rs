use std::time::Duration;

use super::{super::time::readable, AT_MOST, between};
use crate::{Config, RetryConfig};

/// How many waits are told one by one.
const SHOWN: u32 = 8;

/// How many growing waits are added up at most: with more attempts something else is to end them.
const MOST: u32 = 10_000;

pub(super) fn sentences(retry: &RetryConfig, config: &Config) -> Vec<String> {
    let attempts = retry.max_attempts();
    if attempts == 1 {
        return vec!["Makes one attempt: nothing is retried.".to_owned()];
    }
    let mut told = vec![
        format!("Makes up to {attempts} attempts, the first one included."),
        format!("Waits between them: {}.", each(retry)),
    ];
    let ends = [0.0, AT_MOST].map(|random| sum(retry, random, Duration::ZERO));
    if let [Some(least), Some(most)] = ends {
        told.push(format!("In all it waits {}.", between(least, most)));
    }
    let asked = retry.retry_after_max();
    if retry.interval().wait(1, 0.0).is_some_and(|shortest| shortest < asked) {
        told.push(format!(
            "Where an error or a refusal says `retry_after`, that wait can be longer, up to {}.",
            readable(asked)
        ));
    }
    told.push(match retry.retry_errors() {
        [] => "Retries every error but a refusal of an open breaker.".to_owned(),
        kinds => format!("Retries errors of these kinds only: {}.", kinds.join(", ")),
    });
    if !retry.ignore_errors().is_empty() {
        told.push(format!("Never retries: {}.", retry.ignore_errors().join(", ")));
    }
    if let Some(total) = retry.total_timeout() {
        told.push(format!("No attempt starts later than {} after the first one.", readable(total)));
    }
    told.extend(retry.budget().map(|name| budget(name, config)));
    told
}

/// The longest that the waits take in all, were each to be asked for at least this long; `None`
/// where there are too many to add up.
pub(super) fn longest(retry: &RetryConfig, asked: Duration) -> Option<Duration> {
    sum(retry, AT_MOST, asked.min(retry.retry_after_max()))
}

/// All waits at a place in their range, each of them at least this long.
fn sum(retry: &RetryConfig, random: f64, least: Duration) -> Option<Duration> {
    let attempts = retry.max_attempts();
    let wait = |attempt| Some(retry.interval().wait(attempt, random)?.max(least));
    if !retry.enable_exponential_backoff() {
        return Some(wait(1)?.saturating_mul(attempts - 1));
    }
    let waits = (1..attempts).map_while(wait);
    (attempts <= MOST).then(|| waits.fold(Duration::ZERO, Duration::saturating_add))
}

/// Whether a refusal of this kind is retried.
pub(super) fn retries(retry: &RetryConfig, kind: &str) -> bool {
    let is_on = |list: &[String]| list.iter().any(|listed| listed == kind);
    let is_open_breaker = kind == "call_not_permitted";
    let all = retry.retry_errors().is_empty() && !is_open_breaker;
    (all || is_on(retry.retry_errors())) && !is_on(retry.ignore_errors())
}

fn each(retry: &RetryConfig) -> String {
    let waits = retry.max_attempts() - 1;
    let wait = |attempt, random| retry.interval().wait(attempt, random).unwrap_or_default();
    let mut shown: Vec<String> = (1..=waits.min(SHOWN))
        .map(|attempt| between(wait(attempt, 0.0), wait(attempt, AT_MOST)))
        .collect();
    if waits > 1 && !retry.enable_exponential_backoff() {
        return format!("{} each time", shown[0]);
    }
    if waits > SHOWN {
        shown.push("and so on".to_owned());
    }
    shown.join(", ")
}

fn budget(name: &str, config: &Config) -> String {
    let values: Vec<String> = config
        .loaded()
        .budget_values(name)
        .into_iter()
        .map(|(key, value, _)| format!("{} = {value}", key.name))
        .collect();
    format!(
        "Retries are taken from the budget '{name}' ({}); once it is spent, errors are \
         returned at once.",
        values.join(", ")
    )
}
