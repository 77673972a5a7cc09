//! Changes of state by hand.

use axum::{
    Json,
    extract::{Request, State},
    http::StatusCode,
    middleware::Next,
    response::{IntoResponse, Response},
};
use serde::Serialize;
use serde_json::{Map, Value};

use super::{
    body,
    extract::Path,
    filter::Name,
    problem::Problem,
    state::{App, Shared},
};
use crate::{
    CircuitBreaker,
    circuit_breaker::{IllegalTransition, State as BreakerState},
    registry::Kept,
};

/// Lets a request pass that brings the token. It comes before everything else is looked at: who may not
/// change anything learns nothing, not even which names there are.
pub(super) async fn authorize(State(app): State<App>, request: Request, next: Next) -> Response {
    let problem = match &app.token {
        Some(token) if token.is_in(request.headers()) => return next.run(request).await,
        Some(_) => Problem::new(
            StatusCode::UNAUTHORIZED,
            "changes need the header `Authorization: Bearer` with the actuator's token",
        ),
        None => Problem::new(
            StatusCode::FORBIDDEN,
            "nothing can be changed: the actuator has no token configured",
        ),
    };
    problem.into_response()
}

/// What can be asked for.
#[derive(Debug, Clone, Copy)]
enum Update {
    To(BreakerState),
    Reset,
}

impl Update {
    /// That of the body of a request: an object, whose other fields are left alone.
    fn read(body: &[u8]) -> Option<Self> {
        let body: Map<String, Value> = serde_json::from_slice(body).ok()?;
        Some(match body.get("updateState")?.as_str()? {
            "CLOSE" => Self::To(BreakerState::Closed),
            "FORCE_OPEN" => Self::To(BreakerState::ForcedOpen),
            "DISABLE" => Self::To(BreakerState::Disabled),
            "METRICS_ONLY" => Self::To(BreakerState::MetricsOnly),
            "RESET" => Self::Reset,
            _ => return None,
        })
    }

    fn apply(self, breaker: &CircuitBreaker) -> Result<(), IllegalTransition> {
        match self {
            Self::To(state) => breaker.transition_to(state),
            Self::Reset => {
                breaker.reset();
                Ok(())
            }
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Changed {
    circuit_breaker_name: String,
    current_state: &'static str,
    message: String,
}

pub(super) async fn change(
    State(app): State<App>,
    Path(name): Path<Name>,
    request: Request,
) -> Result<Json<Changed>, Problem> {
    let name = name.checked()?;
    let body = body::whole(request).await?;
    app.look(move |app| apply(app, &name, &body)).await.map(Json)
}

/// Changes a breaker and those of all its keys: who forces a name open means all of its calls.
fn apply(app: &Shared, name: &str, body: &[u8]) -> Result<Changed, Problem> {
    let update = Update::read(body).ok_or_else(|| {
        let message =
            "expected {\"updateState\": \"CLOSE\"}, or FORCE_OPEN, DISABLE, METRICS_ONLY or RESET";
        Problem::bad_request(message)
    })?;
    let breaker = CircuitBreaker::find_in(&app.registry, name).ok_or_else(|| {
        Problem::new(StatusCode::NOT_FOUND, "there is no circuit breaker of this name")
    })?;
    for breaker in [breaker.clone()].into_iter().chain(breaker.keyed_instances()) {
        update
            .apply(&breaker)
            .map_err(|illegal| Problem::new(StatusCode::CONFLICT, illegal.to_string()))?;
    }
    let name = breaker.name();
    Ok(Changed {
        circuit_breaker_name: name.to_owned(),
        current_state: breaker.state().as_str(),
        message: format!("{name} state has been changed successfully"),
    })
}
