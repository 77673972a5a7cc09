use proc_macro2::Ident;

use crate::{
    model::{CheckedBy, Stack},
    problems::Problems,
};

/// Refuses `config = "…"`: nothing here can read the file.
pub(crate) fn check(stack: &Stack, _function: &Ident, problems: &mut Problems) -> Vec<String> {
    for layer in &stack.layers {
        if let CheckedBy::File(file) = &layer.checked_by {
            let message = "`config` needs a feature of `resilience`: add \
                           `features = [\"checked-names\"]` to it in Cargo.toml, or remove `config`";
            problems.at(file, message);
        }
    }
    Vec::new()
}
