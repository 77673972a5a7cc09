//! The answer for machines. Fields are only ever added; another meaning is another `version`.

use serde_json::{Value as Json, json};

use super::Checked;
use crate::config::{Finding, Origin, Value};

const VERSION: u32 = 1;

pub(super) fn of(checked: &Checked) -> String {
    let settings: Vec<Json> = checked
        .settings
        .iter()
        .map(|(path, value, origin)| {
            json!({ "path": path, "value": setting(value), "origin": source(origin) })
        })
        .collect();
    let findings: Vec<Json> = checked.report.findings().iter().map(finding).collect();
    let all = json!({ "version": VERSION, "settings": settings, "findings": findings });
    format!("{all:#}\n")
}

/// Durations and words as texts, the rest as what it is in JSON.
fn setting(value: &Value) -> Json {
    match value {
        Value::Bool(on) => json!(on),
        Value::Integer(n) => json!(n),
        Value::Float(x) => json!(x),
        Value::Kinds(list) | Value::Texts(list) => json!(list.as_ref()),
        Value::Addresses(addresses) => json!(addresses.shown()),
        Value::Counts(counts) => {
            counts.iter().map(|(kind, n)| (kind.clone(), json!(n))).collect::<Json>()
        }
        _ => json!(value.to_string()),
    }
}

fn source(origin: &Origin) -> Json {
    match origin {
        Origin::File { file, line, entry } => {
            json!({ "kind": "file", "file": file, "line": line, "entry": entry })
        }
        Origin::Environment(variable) => json!({ "kind": "environment", "variable": variable }),
        Origin::Attribute(place) => json!({ "kind": "attribute", "place": place }),
        // `code` and `default`, which have nothing more to tell.
        plain => json!({ "kind": plain.to_string() }),
    }
}

fn finding(finding: &Finding) -> Json {
    let Finding { code, severity, path, value, place, message, instead } = finding;
    json!({
        "code": code,
        "severity": severity.as_str(),
        "path": path,
        "value": value,
        "place": place,
        "message": message,
        "instead": instead,
    })
}
