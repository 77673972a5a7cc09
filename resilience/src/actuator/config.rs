//! The configuration in force.

use axum::{Json, extract::State};
use serde::Serialize;

use super::state::App;

#[derive(Serialize)]
pub(super) struct Effective {
    settings: Vec<Setting>,
    warnings: Vec<String>,
}

#[derive(Serialize)]
struct Setting {
    key: String,
    value: String,
    origin: String,
}

pub(super) async fn config(State(app): State<App>) -> Json<Effective> {
    let settings = app.registry.effective_config().into_iter().map(|(key, value, origin)| {
        Setting { key, value: value.to_string(), origin: origin.to_string() }
    });
    Json(Effective { settings: settings.collect(), warnings: app.registry.warnings() })
}
