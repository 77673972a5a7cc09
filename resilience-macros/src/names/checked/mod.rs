use std::collections::BTreeSet;

use proc_macro2::Ident;

use super::{
    package::{Package, Shared},
    undeclared,
};
use crate::{model::Stack, problems::Problems};

/// Checks every name of a function, and tells which files it was compiled by.
///
/// An attribute that is wrong in itself may have meant another name: then nothing is checked.
pub(crate) fn check(stack: &Stack, function: &Ident, problems: &mut Problems) -> Vec<String> {
    let (true, Some(package)) = (problems.is_empty(), Package::current()) else {
        return Vec::new();
    };
    let mut files = BTreeSet::new();
    let mut of_package = None;
    if let Some(layer) = stack.layers.iter().find(|layer| layer.config.is_none()) {
        files.extend(package.tracked_manifest());
        // What is wrong with it is the same for every attribute: one tells it.
        match package.declared() {
            Ok(Some(shared)) => match &*shared {
                Ok(_) => of_package = Some(shared),
                Err(message) => problems.at_span(layer.span, message),
            },
            Ok(None) => {}
            Err(message) => problems.at_span(layer.span, message),
        }
    }
    for layer in &stack.layers {
        let of_attribute: Option<Shared> =
            layer.config.as_ref().map(|file| package.declared_in(&file.value()));
        let Some(shared) = of_attribute.as_ref().or(of_package.as_ref()) else { continue };
        match (&**shared, &layer.config) {
            (Ok(declared), _) => {
                files.extend(declared.files.iter().cloned());
                undeclared::check(layer, function, declared, problems);
            }
            (Err(message), Some(file)) => problems.at(file, message),
            (Err(_), None) => {}
        }
    }
    files.into_iter().collect()
}
