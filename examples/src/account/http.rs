use axum::{
    Router,
    extract::State,
    http::StatusCode,
    routing::{get, put},
};
use serde::{Deserialize, Serialize};

use super::{Directory, Questions};
use crate::{
    faults::Faults,
    web::{ApiError, Json, Path, health},
};

/// The `error` code for a user who does not exist: a 404 of any other kind is no answer about users.
pub const UNKNOWN_USER: &str = "UNKNOWN_USER";

/// Whether a user may use the system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Role {
    /// Whether he has the role for it.
    pub has_service_role: bool,
}

/// Which version the roles are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Version {
    /// Another one after every change.
    pub version: String,
}

/// Routes `GET /internal/user/{id}/has-service-role`, `GET /internal/roles/version`, `PUT /users/{id}`,
/// `GET /questions`, `PUT /faults`, `/livez` and `/readyz`.
///
/// The faults are those of the internal questions; roles can always be changed, and questions counted.
pub fn routes(directory: Directory) -> Router {
    let internal = Router::new()
        .route("/internal/user/{id}/has-service-role", get(role))
        .route("/internal/roles/version", get(version))
        .with_state(directory.clone());
    let beside = Router::new()
        .route("/users/{id}", put(set_role))
        .route("/questions", get(questions))
        .with_state(directory);
    Faults::default().around(internal).merge(beside).merge(health((), async |()| true))
}

async fn role(
    State(directory): State<Directory>,
    Path(user): Path<i64>,
) -> Result<Json<Role>, ApiError> {
    let has_service_role = directory.has_service_role(user).ok_or_else(unknown_user)?;
    Ok(Json(Role { has_service_role }))
}

async fn version(State(directory): State<Directory>) -> Json<Version> {
    Json(Version { version: directory.version() })
}

async fn set_role(
    State(directory): State<Directory>,
    Path(user): Path<i64>,
    Json(role): Json<Role>,
) -> Result<Json<Role>, ApiError> {
    directory.set_service_role(user, role.has_service_role).ok_or_else(unknown_user)?;
    Ok(Json(role))
}

async fn questions(State(directory): State<Directory>) -> Json<Questions> {
    Json(directory.questions())
}

fn unknown_user() -> ApiError {
    ApiError::new(StatusCode::NOT_FOUND, UNKNOWN_USER, "there is no such user")
}
