//! Changes of state by hand.

use axum::{
    Json,
    body::Bytes,
    extract::{FromRequest, Request, State, rejection::BytesRejection},
    http::StatusCode,
    middleware::Next,
    response::{IntoResponse, Response},
};
use serde::{Deserialize, Serialize};

use super::{
    extract::Path,
    filter::Name,
    problem::Problem,
    state::{ARRIVAL, App},
};
use crate::{CircuitBreaker, circuit_breaker::State as BreakerState, registry::Kept};

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

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Wanted {
    update_state: Update,
}

/// What can be asked for.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
enum Update {
    Close,
    ForceOpen,
    Disable,
    MetricsOnly,
    Reset,
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
    apply(&app, &name, &body(request).await?).map(Json)
}

async fn body(request: Request) -> Result<Bytes, Problem> {
    let body = tokio::time::timeout(ARRIVAL, Bytes::from_request(request, &())).await;
    let body = body.map_err(|_| {
        let seconds = ARRIVAL.as_secs();
        let message = format!("the body did not arrive within {seconds} seconds");
        Problem::new(StatusCode::REQUEST_TIMEOUT, message)
    })?;
    body.map_err(|refused: BytesRejection| Problem::new(refused.status(), refused.body_text()))
}

fn apply(app: &App, name: &str, body: &[u8]) -> Result<Changed, Problem> {
    let Wanted { update_state } = serde_json::from_slice(body).map_err(|error| {
        Problem::bad_request(format!(
            "expected {{\"updateState\": \"CLOSE\"}}, or FORCE_OPEN, DISABLE, METRICS_ONLY or RESET: \
             {error}"
        ))
    })?;
    let breaker = CircuitBreaker::find_in(&app.registry, name).ok_or_else(|| {
        Problem::new(StatusCode::NOT_FOUND, "there is no circuit breaker of this name")
    })?;
    let transition = match update_state {
        Update::Close => breaker.transition_to(BreakerState::Closed),
        Update::ForceOpen => breaker.transition_to(BreakerState::ForcedOpen),
        Update::Disable => breaker.transition_to(BreakerState::Disabled),
        Update::MetricsOnly => breaker.transition_to(BreakerState::MetricsOnly),
        Update::Reset => {
            breaker.reset();
            Ok(())
        }
    };
    transition.map_err(|illegal| Problem::new(StatusCode::CONFLICT, illegal.to_string()))?;
    let name = breaker.name();
    Ok(Changed {
        circuit_breaker_name: name.to_owned(),
        current_state: breaker.state().as_str(),
        message: format!("{name} state has been changed successfully"),
    })
}
