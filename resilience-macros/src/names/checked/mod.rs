mod broken;
mod cache;
mod declared;
mod metadata;
mod package;
mod undeclared;

use std::{collections::BTreeSet, sync::Arc};

use broken::Broken;
use package::Package;
use proc_macro2::Ident;

use crate::{
    model::{CheckedBy, Stack},
    problems::Problems,
};

/// Checks every name of a function, and tells which files it was compiled by.
///
/// An attribute that is wrong in itself may have meant another name: then nothing is checked.
pub(crate) fn check(stack: &Stack, function: &Ident, problems: &mut Problems) -> Vec<String> {
    let (true, Some(package)) = (problems.is_empty(), Package::current()) else {
        return Vec::new();
    };
    let mut files = BTreeSet::new();
    let mut told: Vec<Arc<Broken>> = Vec::new();
    for layer in &stack.layers {
        let (declared, span) = match &layer.checked_by {
            CheckedBy::Nothing => continue,
            CheckedBy::File(file) => (package.declared_in(&file.value()).map(Some), file.span()),
            CheckedBy::Manifest => {
                files.extend(package.tracked_manifest());
                (package.declared(), layer.span)
            }
        };
        match declared {
            Ok(None) => {}
            Ok(Some(declared)) => {
                files.extend(declared.files.iter().cloned());
                undeclared::check(layer, function, &declared, problems);
            }
            // To the attributes of one function it is one mistake.
            Err(broken) if told.iter().any(|known| Arc::ptr_eq(known, &broken)) => {}
            Err(broken) => {
                problems.at_span(span, broken.tell(function, span));
                told.push(broken);
            }
        }
    }
    files.into_iter().collect()
}
