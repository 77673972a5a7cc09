use std::time::Duration;

use super::{super::time::readable, AT_MOST, between};
use crate::{Config, RetryConfig};

/// How many waits are told one by one.
const SHOWN: u32 = 8;

/// How many waits are added up at most: with more attempts something else is to end them.
const MOST: u32 = 10_000;

pub(super) fn sentences(retry: &RetryConfig, config: &Config) -> Vec<String> {
    let attempts = retry.max_attempts();
    let mut told = vec![match attempts {
        1 => "Makes one attempt: nothing is retried.".to_owned(),
        n => format!("Makes up to {n} attempts, the first one included."),
    }];
    if attempts > 1 {
        told.push(format!("Waits between them: {}.", each(retry)));
        if let (Some(least), Some(most)) = (sum(retry, 0.0, Duration::ZERO), longest(retry)) {
            told.push(format!("In all it waits {}.", between(least, most)));
        }
        let asked = readable(retry.retry_after_max());
        told.push(format!(
            "Where an error says `retry_after`, that wait can be longer, up to {asked}."
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

/// The longest that the waits take in all; `None` where there are too many to add up.
pub(super) fn longest(retry: &RetryConfig) -> Option<Duration> {
    sum(retry, AT_MOST, Duration::ZERO)
}

/// The same were each as long as a `retry_after` may ask for.
pub(super) fn longest_as_asked(retry: &RetryConfig) -> Option<Duration> {
    sum(retry, AT_MOST, retry.retry_after_max())
}

/// All waits at a place in their range, each of them at least this long.
fn sum(retry: &RetryConfig, random: f64, least: Duration) -> Option<Duration> {
    let attempts = Some(retry.max_attempts()).filter(|attempts| *attempts <= MOST)?;
    let waits = (1..attempts).map_while(|attempt| retry.interval().wait(attempt, random));
    Some(waits.fold(Duration::ZERO, |sum, wait| sum.saturating_add(wait.max(least))))
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
