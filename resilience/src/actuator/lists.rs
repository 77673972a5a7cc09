//! Resilience4j's lists of instances.

use std::collections::BTreeMap;

use axum::{Json, extract::State};
use serde::Serialize;

use super::{state::App, topic::Topic};
use crate::{
    Bulkhead, CircuitBreaker,
    circuit_breaker::{Observation, percentage},
};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CircuitBreakers {
    circuit_breakers: BTreeMap<String, Details>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Details {
    failure_rate: String,
    slow_call_rate: String,
    failure_rate_threshold: String,
    slow_call_rate_threshold: String,
    buffered_calls: u64,
    failed_calls: u64,
    slow_calls: u64,
    slow_failed_calls: u64,
    not_permitted_calls: u64,
    state: &'static str,
}

impl Details {
    fn of(breaker: &CircuitBreaker) -> Self {
        let Observation { state, config, metrics, .. } = breaker.observe();
        Self {
            failure_rate: percentage(metrics.failure_rate),
            slow_call_rate: percentage(metrics.slow_call_rate),
            failure_rate_threshold: percentage(config.failure_rate_threshold()),
            slow_call_rate_threshold: percentage(config.slow_call_rate_threshold()),
            buffered_calls: metrics.buffered_calls,
            failed_calls: metrics.failed_calls,
            slow_calls: metrics.slow_calls,
            slow_failed_calls: metrics.slow_failed_calls,
            not_permitted_calls: metrics.not_permitted_calls,
            state: state.as_str(),
        }
    }
}

pub(super) async fn circuit_breakers(State(app): State<App>) -> Json<CircuitBreakers> {
    let breakers = app.registry.circuit_breakers();
    let details = breakers.iter().map(|breaker| (breaker.name().to_owned(), Details::of(breaker)));
    Json(CircuitBreakers { circuit_breakers: details.collect() })
}

/// Handlers that list names under a key.
macro_rules! names {
    ($($handler:ident: $list:ident as $key:literal;)*) => {
        $(
            pub(super) async fn $handler(
                State(app): State<App>,
            ) -> Json<BTreeMap<&'static str, Vec<String>>> {
                let names = app.registry.$list().iter().map(|each| each.name().to_owned()).collect();
                Json(BTreeMap::from([($key, names)]))
            }
        )*
    };
}

names! {
    rate_limiters: rate_limiters as "rateLimiters";
    retries: retries as "retries";
    time_limiters: time_limiters as "timeLimiters";
}

/// Both sorts, under the names by which their events are found.
pub(super) async fn bulkheads(State(app): State<App>) -> Json<BTreeMap<&'static str, Vec<String>>> {
    Json(BTreeMap::from([("bulkheads", Bulkhead::names(&app.registry))]))
}
