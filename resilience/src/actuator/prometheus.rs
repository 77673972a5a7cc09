//! What Prometheus scrapes.

use axum::{
    extract::State,
    http::header::CONTENT_TYPE,
    response::{IntoResponse, Response},
};

use super::state::App;
use crate::metrics;

pub(super) async fn prometheus(State(app): State<App>) -> Response {
    let text = app.look(|app| app.registry.prometheus()).await;
    ([(CONTENT_TYPE, metrics::CONTENT_TYPE)], text).into_response()
}
