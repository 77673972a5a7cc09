//! What the tests of several modules use.

use crate::{Loaded, Loader};

/// Loads values set in code, and nothing else.
pub(crate) fn loaded(values: &[(&str, &str)]) -> Loaded {
    let mut loader = Loader::new();
    loader.env(false);
    for (path, value) in values {
        loader.set(*path, *value);
    }
    loader.load().unwrap()
}
