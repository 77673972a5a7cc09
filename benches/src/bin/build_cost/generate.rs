//! The two crates.

use std::{fmt::Write, fs, io, path::Path};

pub(crate) const BARE: &str = "bare";
pub(crate) const ANNOTATED: &str = "annotated";
pub(crate) const FUNCTIONS: u32 = 200;

const BEGINNING: &str = "\
#![allow(dead_code)] // nobody reads what a failure is of

use std::{future::Future, pin::Pin};

#[derive(Debug)]
enum Failure {
    Refused(resilience::Error),
    Io(std::io::Error),
}

impl From<resilience::Error> for Failure {
    fn from(refusal: resilience::Error) -> Self {
        Self::Refused(refusal)
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Self::Io(error)
    }
}

async fn ask(id: u64, text: &str) -> std::io::Result<String> {
    std::future::ready(()).await;
    Ok(format!(\"{id} {text}\"))
}
";

/// Writes a workspace of the two crates, on the versions that `library` is built with.
pub(crate) fn write(directory: &Path, library: &Path) -> Result<(), String> {
    let written = || -> io::Result<()> {
        let members =
            format!("[workspace]\nresolver = \"3\"\nmembers = [\"{BARE}\", \"{ANNOTATED}\"]\n");
        fs::write(directory.join("Cargo.toml"), members)?;
        fs::copy(library.join("Cargo.lock"), directory.join("Cargo.lock"))?;
        for (name, annotated) in [(BARE, false), (ANNOTATED, true)] {
            let package = directory.join(name);
            fs::create_dir_all(package.join("src"))?;
            fs::write(package.join("Cargo.toml"), manifest(name, library))?;
            fs::write(package.join("src/main.rs"), source(annotated))?;
        }
        Ok(())
    };
    written().map_err(|error| format!("{} cannot be written: {error}", directory.display()))
}

fn manifest(name: &str, library: &Path) -> String {
    let library = library.join("resilience");
    format!(
        "[package]\nname = \"{name}\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n\
         [dependencies]\nresilience = {{ path = {:?} }}\n",
        library.display().to_string()
    )
}

/// A program that has a future of each function, and of each fallback: what nobody could poll is not
/// compiled, and a fallback's own body is not what attributes cost.
fn source(annotated: bool) -> String {
    let functions = (0..FUNCTIONS).map(|n| function(n, annotated));
    let mut source: String = std::iter::once(BEGINNING.to_owned()).chain(functions).collect();
    source.push_str(
        "\nfn main() {\n    let calls: Vec<Pin<Box<dyn Future<Output = Result<String, Failure>>>>> = vec![\n",
    );
    for n in 0..FUNCTIONS {
        let _ = writeln!(source, "        Box::pin(call_{n}({n}, String::new())),");
        let _ = writeln!(
            source,
            "        Box::pin(instead_{n}({n}, String::new(), Failure::Io(std::io::ErrorKind::Other.into()))),"
        );
    }
    source.push_str("    ];\n    drop(calls);\n}\n");
    source
}

fn function(n: u32, annotated: bool) -> String {
    let attributes = if annotated { attributes(n) } else { String::new() };
    format!(
        "\n{attributes}async fn call_{n}(id: u64, text: String) -> Result<String, Failure> {{
    let answer = ask(id, &text).await?;
    Ok(answer + \" {n}\")
}}

async fn instead_{n}(id: u64, text: String, failure: Failure) -> Result<String, Failure> {{
    Ok(format!(\"{{id}} {{text}} {{failure:?}} {n}\"))
}}
"
    )
}

fn attributes(n: u32) -> String {
    format!(
        "#[resilience::retry(name = \"retry{n}\", fallback = instead_{n})]
#[resilience::circuit_breaker(name = \"breaker{n}\")]
#[resilience::rate_limiter(name = \"limiter{n}\")]
#[resilience::time_limiter(name = \"time{n}\")]
#[resilience::bulkhead(name = \"bulkhead{n}\")]
"
    )
}
