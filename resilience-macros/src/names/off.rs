use proc_macro2::Ident;

use crate::{model::Stack, problems::Problems};

/// Refuses `config = "…"`: nothing here can read the file.
pub(crate) fn check(stack: &Stack, _function: &Ident, problems: &mut Problems) -> Vec<String> {
    for config in stack.layers.iter().filter_map(|layer| layer.config.as_ref()) {
        let message = "`config` needs a feature of `resilience`: add `features = [\"checked-names\"]` \
                       to it in Cargo.toml, or remove `config`";
        problems.at(config, message);
    }
    Vec::new()
}
