//! The events that were kept.

use axum::{
    Json, Router,
    extract::{Path, Query, State},
    routing::get,
};
use serde::Deserialize;

use super::{filter::Filter, problem::Problem, state::App, topic::Topic};

/// How many events an answer has unless it is asked for more.
const USUAL: usize = 1_000;

/// How many it has at most.
const MOST: usize = 10_000;

#[derive(Deserialize)]
struct Limit {
    limit: Option<usize>,
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
    Query(Limit { limit }): Query<Limit>,
) -> Result<Json<T::List>, Problem> {
    let filter = filter.checked(T::TYPES)?;
    let mut events = T::kept(&app.registry, &filter);
    events.sort_by_key(|(_, event)| event.created_at);
    let surplus = events.len().saturating_sub(limit.unwrap_or(USUAL).min(MOST));
    let newest: Vec<_> =
        events.drain(surplus..).map(|(name, event)| T::json(name, event)).collect();
    Ok(Json(newest.into()))
}
