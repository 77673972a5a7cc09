//! The page and what keeps it safe.

use axum::{
    Router,
    http::{
        HeaderValue,
        header::{
            CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY,
            X_CONTENT_TYPE_OPTIONS,
        },
    },
    response::{IntoResponse, Response},
    routing::get,
};

use super::state::App;

/// Scripts and styles come from files of this origin alone, and nobody may frame the page.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
                      img-src 'self' data:; base-uri 'none'; form-action 'none'; \
                      frame-ancestors 'none'";

pub(super) fn page() -> Response {
    file("text/html; charset=utf-8", include_str!("page/index.html"))
}

macro_rules! scripts {
    ($($name:literal)*) => {
        &[$(($name, include_str!(concat!("page/", $name)))),*]
    };
}

/// The modules of the page's script, each with what is in it.
const SCRIPTS: &[(&str, &str)] = scripts![
    "badge.js" "cells.js" "change.js" "dom.js" "menu.js" "page.js" "patterns.js" "row.js"
    "server.js" "table.js" "timeline.js" "view.js" "words.js"
];

pub(super) fn files() -> Router<App> {
    let style = async || file("text/css; charset=utf-8", include_str!("page/page.css"));
    let mut routes = Router::new().route("/page/page.css", get(style));
    for &(name, script) in SCRIPTS {
        let script = async move || file("text/javascript; charset=utf-8", script);
        routes = routes.route(&format!("/page/{name}"), get(script));
    }
    routes
}

fn file(content_type: &'static str, content: &'static str) -> Response {
    ([(CONTENT_TYPE, content_type)], content).into_response()
}

/// What every response has, the page's above all.
pub(super) async fn secure(mut response: Response) -> Response {
    let headers = response.headers_mut();
    for (name, value) in [
        (CONTENT_SECURITY_POLICY, POLICY),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (REFERRER_POLICY, "no-referrer"),
        (CACHE_CONTROL, "no-store"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}
