//! How many crates a user of the default features builds.

// The build cost's program counts them the same way.
#[path = "../../benches/src/bin/build_cost/tree.rs"]
mod tree;

use std::process::Command;

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

#[test]
fn the_macros_are_built_without_the_loader_unless_names_are_checked() {
    let tree_of_macros = |features: &[&str]| {
        let output = Command::new(env!("CARGO"))
            .args(["tree", "--package=resilience-macros", "--edges=normal", "--locked"])
            .args(features)
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .output()
            .expect("cargo runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("UTF-8")
    };
    let loader = ["resilience-config", "saphyr-parser", "toml"];
    let plain = tree_of_macros(&[]);
    assert!(loader.iter().all(|name| !plain.contains(name)), "{plain}");
    let checked = tree_of_macros(&["--features=checked-names"]);
    assert!(loader.iter().all(|name| checked.contains(name)), "{checked}");
}
