//! Health in the shape of Spring Boot's.

use std::collections::BTreeMap;

use axum::{Json, extract::State, http::StatusCode};
use serde::Serialize;

use super::state::App;
use crate::health::{Component, Detail, Indicator, Status};

#[derive(Serialize)]
pub(super) struct Overall {
    status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    components: Option<Components>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Components {
    circuit_breakers: Group,
    rate_limiters: Group,
    #[serde(skip_serializing_if = "Option::is_none")]
    store: Option<Group>,
    /// That there is an answer at all, as Spring Boot has it.
    ping: Ping,
}

#[derive(Serialize)]
struct Ping {
    status: &'static str,
}

#[derive(Serialize)]
struct Group {
    status: &'static str,
    details: BTreeMap<String, Instance>,
}

#[derive(Serialize)]
struct Instance {
    status: &'static str,
    details: BTreeMap<&'static str, Value>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Value {
    Number(i64),
    Text(String),
}

pub(super) async fn aggregate(State(app): State<App>) -> (StatusCode, Json<Overall>) {
    let health = app.registry.health();
    let components = Components {
        circuit_breakers: group(health.circuit_breakers),
        rate_limiters: group(health.rate_limiters),
        store: health.store.map(alone),
        ping: Ping { status: Status::Up.as_str() },
    };
    answer(health.status, Some(components))
}

/// Whether the process may get work.
pub(super) async fn readiness(State(app): State<App>) -> (StatusCode, Json<Overall>) {
    answer(app.registry.health().status, None)
}

/// Whether the process is to be left alive. A sick dependency is no reason to end it.
pub(super) async fn liveness() -> (StatusCode, Json<Overall>) {
    answer(Status::Up, None)
}

fn answer(status: Status, components: Option<Components>) -> (StatusCode, Json<Overall>) {
    let code =
        if status == Status::Down { StatusCode::SERVICE_UNAVAILABLE } else { StatusCode::OK };
    (code, Json(Overall { status: status.as_str(), components }))
}

fn group(component: Component) -> Group {
    let details = component.instances.into_iter().map(instance);
    Group { status: component.status.as_str(), details: details.collect() }
}

/// What there is one of.
fn alone(indicator: Indicator) -> Group {
    Group { status: indicator.status.as_str(), details: BTreeMap::from([instance(indicator)]) }
}

fn instance(indicator: Indicator) -> (String, Instance) {
    let values = indicator.details.into_iter().map(|(name, value)| (name, value.into()));
    let status = indicator.status.as_str();
    (indicator.name, Instance { status, details: values.collect() })
}

impl From<Detail> for Value {
    fn from(detail: Detail) -> Self {
        match detail {
            Detail::Number(number) => Self::Number(number),
            Detail::Text(text) => Self::Text(text),
        }
    }
}
