//! What is at the root: the page for people, the links for programs.

use std::collections::BTreeMap;

use axum::{
    Json,
    extract::OriginalUri,
    http::{HeaderMap, header::ACCEPT},
    response::{IntoResponse, Redirect, Response},
};
use serde::Serialize;

use super::page::page;

/// What there is, by name; a path with braces is a template.
const PATHS: &[(&str, &str)] = &[
    ("self", ""),
    ("circuitbreakers", "/circuitbreakers"),
    ("circuitbreakers-name", "/circuitbreakers/{name}"),
    ("ratelimiters", "/ratelimiters"),
    ("retries", "/retries"),
    ("bulkheads", "/bulkheads"),
    ("timelimiters", "/timelimiters"),
    ("circuitbreakerevents", "/circuitbreakerevents"),
    ("circuitbreakerevents-name", "/circuitbreakerevents/{name}"),
    ("circuitbreakerevents-name-eventType", "/circuitbreakerevents/{name}/{eventType}"),
    ("ratelimiterevents", "/ratelimiterevents"),
    ("ratelimiterevents-name", "/ratelimiterevents/{name}"),
    ("ratelimiterevents-name-eventType", "/ratelimiterevents/{name}/{eventType}"),
    ("retryevents", "/retryevents"),
    ("retryevents-name", "/retryevents/{name}"),
    ("retryevents-name-eventType", "/retryevents/{name}/{eventType}"),
    ("bulkheadevents", "/bulkheadevents"),
    ("bulkheadevents-name", "/bulkheadevents/{name}"),
    ("bulkheadevents-name-eventType", "/bulkheadevents/{name}/{eventType}"),
    ("timelimiterevents", "/timelimiterevents"),
    ("timelimiterevents-name", "/timelimiterevents/{name}"),
    ("timelimiterevents-name-eventType", "/timelimiterevents/{name}/{eventType}"),
    ("streamcircuitbreakerevents", "/streamcircuitbreakerevents"),
    ("streamratelimiterevents", "/streamratelimiterevents"),
    ("streamretryevents", "/streamretryevents"),
    ("streambulkheadevents", "/streambulkheadevents"),
    ("streamtimelimiterevents", "/streamtimelimiterevents"),
    ("health", "/health"),
    ("health-path", "/health/{path}"),
    ("config", "/config"),
    ("prometheus", "/prometheus"),
    ("instances", "/instances"),
    ("stream", "/stream"),
];

#[derive(Serialize)]
struct Links {
    #[serde(rename = "_links")]
    links: BTreeMap<&'static str, Link>,
}

#[derive(Serialize)]
struct Link {
    href: String,
    templated: bool,
}

pub(super) async fn index(OriginalUri(uri): OriginalUri, headers: HeaderMap) -> Response {
    let accept = headers.get(ACCEPT).and_then(|accept| accept.to_str().ok());
    if accept.is_some_and(|accept| accept.contains("text/html")) {
        // The page's own links are relative to the path without a slash.
        let slash = uri.path().ends_with('/');
        return if slash { Redirect::permanent("../actuator").into_response() } else { page() };
    }
    let root = uri.path().trim_end_matches('/');
    let links = PATHS.iter().map(|&(name, path)| {
        (name, Link { href: format!("{root}{path}"), templated: path.contains('{') })
    });
    Json(Links { links: links.collect() }).into_response()
}
