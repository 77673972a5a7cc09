//! The events that were kept.

use axum::{
    Json, Router,
    extract::{FromRequestParts, Query, State},
    http::request::Parts,
    routing::get,
};
use serde::Deserialize;

use super::{extract::Path, filter::Filter, problem::Problem, state::App, topic::Topic};

/// How many events an answer has unless it is asked for more.
const USUAL: usize = 1_000;

/// How many it has at most.
const MOST: usize = 10_000;

#[derive(Deserialize)]
struct Asked {
    limit: Option<usize>,
}

/// How many events an answer has at most, as a query asks for it.
struct Limit(usize);

impl<S: Send + Sync> FromRequestParts<S> for Limit {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let Query(Asked { limit }) =
            Query::from_request_parts(parts, state).await.map_err(|_| {
                Problem::bad_request(format!(
                    "expected one `limit`, a whole number from 0 to {MOST}"
                ))
            })?;
        Ok(Self(limit.unwrap_or(USUAL).min(MOST)))
    }
}

pub(super) fn routes<T: Topic>() -> Router<App> {
    let path = format!("/{}", T::EVENTS);
    Router::new()
        .route(&path, get(list::<T>))
        .route(&format!("{path}/{{name}}"), get(list::<T>))
        .route(&format!("{path}/{{name}}/{{type}}"), get(list::<T>))
}

/// The newest ones, oldest first.
async fn list<T: Topic>(
    State(app): State<App>,
    Path(filter): Path<Filter>,
    Limit(limit): Limit,
) -> Result<Json<T::List>, Problem> {
    let filter = filter.checked(T::TYPES)?;
    let newest = app.look(move |app| {
        let mut events = T::kept(&app.registry, &filter);
        events.sort_by_key(|(_, event)| event.created_at);
        events.split_off(events.len().saturating_sub(limit))
    });
    let newest = newest.await.into_iter().map(|(name, event)| T::json(name, event));
    Ok(Json(newest.collect::<Vec<_>>().into()))
}
