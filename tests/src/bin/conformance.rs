//! Replays scenarios recorded from Resilience4j: `conformance DIR` reads every `*.jsonl` and
//! `*.jsonl.gz` in a folder and tells, per kind, how many are followed.

use std::{
    collections::BTreeMap,
    io::{self, Write},
    path::Path,
    process::ExitCode,
};

use resilience_tests::conformance::{
    Fields, difference, files, known, replay, scenarios, uncompared,
};

/// How many mismatches of a kind are shown.
const SHOWN: usize = 10;

#[derive(Default)]
struct Kind {
    followed: usize,
    total: usize,
    mismatches: Vec<String>,
    differences: Vec<String>,
    /// How many scenarios are followed but for something, by what that is.
    uncompared: BTreeMap<&'static str, usize>,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder] = arguments.as_slice() else {
        eprintln!("usage: conformance DIR, a folder of *.jsonl files");
        return ExitCode::from(2);
    };
    match run(Path::new(folder), &mut io::stdout().lock()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("conformance: {folder}: {error}");
            ExitCode::from(2)
        }
    }
}

/// Whether everything that is to be followed is followed.
fn run(folder: &Path, out: &mut impl Write) -> io::Result<bool> {
    let files = files(folder)?;
    if files.is_empty() {
        return Err(io::Error::new(io::ErrorKind::NotFound, "no *.jsonl or *.jsonl.gz in it"));
    }
    let mut kinds = BTreeMap::<String, Kind>::new();
    for file in files {
        for scenario in scenarios(&file)? {
            let kind = kinds.entry(scenario.text("kind").to_owned()).or_default();
            if let Some(why) = difference(&scenario) {
                kind.differences.push(format!("{}: {why}", scenario.text("id")));
                continue;
            }
            kind.total += 1;
            if let Some(what) = uncompared(&scenario) {
                *kind.uncompared.entry(what).or_default() += 1;
            }
            let result = replay(&scenario);
            match result {
                Ok(()) => kind.followed += 1,
                Err(mismatch) if known(&scenario) => kind.mismatches.push(mismatch.to_string()),
                Err(mismatch) => {
                    let quirk = scenario.text("quirk");
                    kind.mismatches.push(format!("{mismatch} (unknown quirk `{quirk}`)"));
                }
            }
        }
    }
    for (name, kind) in &kinds {
        writeln!(out, "{name}: {} of {} followed", kind.followed, kind.total)?;
        for mismatch in kind.mismatches.iter().take(SHOWN) {
            writeln!(out, "  differs: {mismatch}")?;
        }
        if kind.mismatches.len() > SHOWN {
            writeln!(out, "  and {} more", kind.mismatches.len() - SHOWN)?;
        }
        for (what, count) in &kind.uncompared {
            writeln!(out, "  not compared in {count}: {what}")?;
        }
        for difference in &kind.differences {
            writeln!(out, "  on purpose not followed: {difference}")?;
        }
    }
    Ok(kinds.values().all(|kind| kind.followed == kind.total))
}
