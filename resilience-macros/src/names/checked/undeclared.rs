use proc_macro2::Ident;
use resilience_config::{Hints, question};
use resilience_settings::Pattern;
use syn::ext::IdentExt;

use super::declared::Declared;
use crate::{model::Layer, problems::Problems};

/// How many declared names a message lists.
const SHOWN: usize = 10;

/// Notes what a layer names and nobody declares.
pub(super) fn check(layer: &Layer, function: &Ident, declared: &Declared, problems: &mut Problems) {
    if let Some(base) = &layer.base_config
        && let Some(message) = declared.loaded.unknown_base(layer.pattern, &base.value())
    {
        problems.at(base, format!("{}: {message}", declared.shown));
    }
    // With settings of its own, an attribute declares its instance itself.
    if !layer.inline.is_empty() || layer.base_config.is_some() {
        return;
    }
    let name = match &layer.name {
        Some(written) => written.value(),
        None => function.unraw().to_string(),
    };
    if declared.loaded.declares(layer.pattern, &name) {
        return;
    }
    let message = message(layer, &name, declared);
    match &layer.name {
        Some(written) => problems.at(written, message),
        None => problems.at_span(layer.span, message),
    }
}

fn message(layer: &Layer, name: &str, declared: &Declared) -> String {
    let (pattern, file) = (layer.pattern, &declared.shown);
    if let Some((other, write)) = other_bulkhead(pattern)
        && declared.loaded.declares(other, name)
    {
        return format!(
            "{file} declares `{name}` under `{other}`, and it is used as `{pattern}`: write {write} \
             at the attribute, or move the entry"
        );
    }
    let named_by =
        if layer.name.is_none() { ", which is the name where none is written" } else { "" };
    format!(
        "{file} has no `{name}` under `{pattern}.instances`{named_by}{}",
        instead(layer, name, declared)
    )
}

/// The other kind of bulkhead, and how it is written.
fn other_bulkhead(pattern: Pattern) -> Option<(Pattern, &'static str)> {
    match pattern {
        Pattern::Bulkhead => Some((Pattern::ThreadPoolBulkhead, "`type = \"thread_pool\"`")),
        Pattern::ThreadPoolBulkhead => Some((Pattern::Bulkhead, "`type = \"semaphore\"`")),
        _ => None,
    }
}

/// The nearest declared name, or else all of them.
fn instead(layer: &Layer, name: &str, declared: &Declared) -> String {
    let names: Vec<&str> = declared.loaded.instances(layer.pattern).collect();
    let written = |name: &str| match layer.name {
        Some(_) => format!("`{name}`"),
        None => format!("`name = \"{name}\"`"),
    };
    if let Some(near) = Hints::default().nearest(name, names.iter().copied()) {
        return question(written(near));
    }
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
