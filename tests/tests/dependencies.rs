//! How many crates a user of the default features builds.

// The build cost's program counts them the same way.
#[path = "../../benches/src/bin/build_cost/tree.rs"]
mod tree;

/// As many as there were when last counted, three of them for the `metrics` facade and four our own.
/// Fewer are welcome, and then here too.
const MOST: usize = 36;

#[test]
fn the_default_features_build_no_more_crates_than_before() {
    let crates = tree::crates().unwrap();
    assert!(
        crates.len() <= MOST,
        "the default features build {} crates, {MOST} before: leave the new ones out, put them behind \
         a feature, or say in the commit why every user needs them, and raise MOST:\n{}",
        crates.len(),
        crates.into_iter().collect::<Vec<_>>().join("\n")
    );
}
