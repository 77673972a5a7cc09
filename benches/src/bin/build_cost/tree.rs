//! The crates that a program with the default features builds.

use std::{collections::BTreeSet, env, path::Path, process::Command};

/// Name and version of each crate, `resilience` itself and what its macros are built from included.
///
/// For one platform, that the number is the same on all.
pub(crate) fn crates() -> Result<BTreeSet<String>, String> {
    let output = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(["tree", "--package=resilience", "--edges=normal,build"])
        .args(["--prefix=none", "--no-dedupe", "--locked"])
        .args(["--target", "x86_64-unknown-linux-gnu"])
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")))
        .output()
        .map_err(|error| format!("cargo cannot be run: {error}"))?;
    if !output.status.success() {
        return Err(format!("cargo tree failed:\n{}", String::from_utf8_lossy(&output.stderr)));
    }
    let lines = String::from_utf8_lossy(&output.stdout);
    let name_and_version =
        |line: &str| line.split_whitespace().take(2).collect::<Vec<_>>().join(" ");
    Ok(lines.lines().map(name_and_version).filter(|line| !line.is_empty()).collect())
}
