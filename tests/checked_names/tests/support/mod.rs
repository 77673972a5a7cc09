//! A package in a folder of its own, checked by the real compiler.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value;
use tempfile::TempDir;

/// What this package says in its manifest.
pub(crate) const METADATA: &str = "[package.metadata.resilience]\nconfig = \"resilience.yaml\"";

pub(crate) struct Package {
    /// Its own: to Cargo, packages of one name at the root of their workspaces are one package.
    name: &'static str,
    folder: TempDir,
}

/// What the compiler says is wrong.
pub(crate) struct Mistake {
    pub(crate) message: String,
    /// The tokens that are underlined.
    pub(crate) wrong: String,
}

impl Package {
    /// A library that has these lines about us in its manifest.
    pub(crate) fn new(name: &'static str, metadata: &str) -> Self {
        let package = Self { name, folder: tempfile::tempdir().expect("a folder") };
        package.write_manifest(metadata);
        // What is built for one package is not built again for the next: versions must be the same.
        fs::copy(root().join("Cargo.lock"), package.path("Cargo.lock")).expect("a lock file");
        package
    }

    pub(crate) fn write_manifest(&self, metadata: &str) {
        let library = root().join("resilience");
        self.write(
            "Cargo.toml",
            &format!(
                "[package]\nname = \"{}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n\
                 [dependencies.resilience]\npath = {:?}\nfeatures = [\"checked-names\"]\n\n\
                 [workspace]\n\n{metadata}\n",
                self.name,
                library.to_str().expect("a path in UTF-8"),
            ),
        );
    }

    pub(crate) fn write(&self, file: &str, text: &str) {
        let path = self.path(file);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, text).expect("a file");
    }

    pub(crate) fn path(&self, file: &str) -> PathBuf {
        self.folder.path().join(file)
    }

    /// What `cargo check` says is wrong, in the order in which it does.
    pub(crate) fn check(&self) -> Vec<Mistake> {
        let output = Command::new(env!("CARGO"))
            .args(["check", "--offline", "--quiet", "--message-format=json"])
            .current_dir(self.folder.path())
            .env("CARGO_TARGET_DIR", Path::new(env!("CARGO_TARGET_TMPDIR")).join("checked"))
            // Where tests are run with flags of their own, everything would be built anew.
            .env_remove("RUSTFLAGS")
            .env_remove("CARGO_ENCODED_RUSTFLAGS")
            .output()
            .expect("cargo runs");
        let messages = String::from_utf8(output.stdout).expect("UTF-8");
        let mistakes: Vec<Mistake> = messages.lines().filter_map(mistake).collect();
        assert_eq!(
            output.status.success(),
            mistakes.is_empty(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        mistakes
    }
}

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// One of Cargo's messages, if it is an error that has a place.
fn mistake(line: &str) -> Option<Mistake> {
    let line: Value = serde_json::from_str(line).expect("JSON");
    let message = line.get("message").filter(|message| message["level"] == "error")?;
    let span = message["spans"].as_array()?.iter().find(|span| span["is_primary"] == true)?;
    let text = span["text"][0]["text"].as_str()?;
    let column = |name: &str| usize::try_from(span[name].as_u64()?).ok()?.checked_sub(1);
    let (start, end) = (column("column_start")?, column("column_end")?);
    Some(Mistake {
        message: message["message"].as_str()?.to_owned(),
        wrong: text.chars().skip(start).take(end - start).collect(),
    })
}
