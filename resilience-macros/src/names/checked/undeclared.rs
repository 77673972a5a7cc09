use proc_macro2::Ident;
use resilience_config::question;
use resilience_settings::Pattern;
use syn::ext::IdentExt;

use super::declared::Declared;
use crate::{
    model::{CheckedBy, Layer},
    problems::Problems,
};

/// How many declared names a message lists.
const SHOWN: usize = 10;

/// Notes what a layer names and nobody declares.
pub(super) fn check(layer: &Layer, function: &Ident, declared: &Declared, problems: &mut Problems) {
    if let Some(base) = &layer.base_config
        && let Some(message) = declared.loaded.unknown_base(layer.pattern, &base.value())
    {
        problems.at(base, format!("{}: {message}", declared.shown()));
    }
    // With settings of its own an attribute declares its instance, unless it says where that is done.
    if layer.is_inline() && !matches!(layer.checked_by, CheckedBy::File(_)) {
        return;
    }
    let name = match &layer.name {
        Some(written) => written.value(),
        None => function.unraw().to_string(),
    };
    if declared.loaded.declares_in_a_profile(layer.pattern, &name) {
        return;
    }
    let message = message(layer, &name, declared);
    match &layer.name {
        Some(written) => problems.at(written, message),
        None => problems.at_span(layer.span, message),
    }
}

fn message(layer: &Layer, name: &str, declared: &Declared) -> String {
    let (pattern, loaded) = (layer.pattern, &declared.loaded);
    let instead = match loaded.other_bulkhead(pattern, name) {
        Some((_, remedy)) => format!("; {remedy}"),
        None => instead(layer, name, declared),
    };
    let by = if layer.name.is_none() { ", which is the name where none is written" } else { "" };
    let elsewhere: Vec<String> = Pattern::ALL
        .iter()
        .filter(|other| loaded.declares_in_a_profile(**other, name))
        .map(|other| format!("`{other}`"))
        .collect();
    if elsewhere.is_empty() {
        let has_no = declared.has_no(name);
        return format!("{has_no} under `{pattern}.instances`{by}{instead}");
    }
    let (files_declare, elsewhere) = (declared.declares(), elsewhere.join(" and "));
    format!(
        "{files_declare} `{name}` under {elsewhere}, not under `{pattern}.instances`{by}{instead}"
    )
}

/// The nearest declared name, or else all of them.
fn instead(layer: &Layer, name: &str, declared: &Declared) -> String {
    let written = |name: &str| match layer.name {
        Some(_) => format!("`{name}`"),
        None => format!("`name = \"{name}\"`"),
    };
    if let Some(near) = declared.loaded.nearest_declared(layer.pattern, name) {
        return question(written(near));
    }
    let names: Vec<&str> = declared.loaded.names_of_all_profiles(layer.pattern).collect();
    if names.is_empty() {
        return "; declare it there".to_owned();
    }
    let listed: Vec<String> = names.iter().take(SHOWN).map(|name| written(name)).collect();
    let more = match names.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("; declare it there, or write one that is: {}{more}", listed.join(", "))
}
