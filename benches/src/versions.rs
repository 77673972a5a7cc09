//! Which versions of the peers were measured.

/// The name of a crate with the version that the workspace's lock file has.
///
/// # Panics
///
/// When the lock file has no crate of this name.
///
/// # Examples
///
/// ```
/// assert!(resilience_bench::versions::of("tokio").starts_with("tokio 1."));
/// ```
pub fn of(name: &str) -> String {
    let lock = include_str!("../../Cargo.lock");
    let version = lock
        .split("[[package]]")
        .find_map(|package| {
            let mut lines = package.trim_start().lines();
            (lines.next()? == format!("name = \"{name}\"")).then_some(())?;
            lines.next()?.strip_prefix("version = \"")?.strip_suffix('"')
        })
        .unwrap_or_else(|| panic!("{name} is not in Cargo.lock"));
    format!("{name} {version}")
}
