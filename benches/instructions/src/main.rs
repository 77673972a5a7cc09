//! Counts the instructions of protected calls under valgrind, and fails when there are more than
//! `records.txt` says. The README beside it tells how to read and set the records.

mod count;
mod paths;
mod profile;
mod records;
mod verdict;

use std::{
    env, fs,
    path::Path,
    process::{Command, ExitCode},
};

use count::Count;
use records::Records;
use verdict::{Compiler, Verdict};

const USAGE: &str = "\
resilience-instructions                 counts every path and compares with the records
resilience-instructions --bless         counts every path and writes the records anew
resilience-instructions --calls <path>  makes the calls of one path, for valgrind";

const ADVICE: &str = "\
benches/instructions/README.md tells how to find what became dearer. If it has to be so, say why in the
commit, and set the records anew: cargo run --release -p resilience-instructions -- --bless";

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match arguments[..] {
        [] => check(),
        ["--bless"] => bless(),
        [count::CALLS, path] => count::make_calls(path).map(|()| true),
        _ => Err(format!("these arguments are not known; there are:\n{USAGE}")),
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(problem) => {
            eprintln!("error: {problem}");
            ExitCode::FAILURE
        }
    }
}

/// Whether no path takes more than its record allows.
fn check() -> Result<bool, String> {
    if !records::HOLD_HERE {
        println!("nothing to compare: the records hold for {}", records::TARGET);
        return Ok(true);
    }
    let records = Records::parse(&read()?)?;
    let rustc = rustc()?;
    let compiler = if rustc == records.rustc { Compiler::OfTheRecords } else { Compiler::Another };
    if compiler == Compiler::Another {
        println!(
            "warning: the records were taken with {}, this is {rustc}: {} % more are allowed",
            records.rustc,
            compiler.percent()
        );
    }

    println!(
        "{:26}{:>14}{:>10}  {:>12}{:>13}",
        "path", "instructions", "recorded", "clock reads", "allocations"
    );
    let counted = count_all()?;
    let mut remarks = Vec::new();
    let mut within = true;
    for (path, count) in &counted {
        let recorded = records.of(path);
        let shown = recorded.map_or_else(|| "-".to_owned(), |count| count.instructions.to_string());
        let Count { instructions, clock_reads, allocations } = count;
        println!("{path:26}{instructions:>14}{shown:>10}  {clock_reads:>12}{allocations:>13}");
        let verdict = Verdict::of(*count, recorded, compiler);
        within &= !verdict.is_failure();
        remarks.extend(verdict.remark(path));
    }
    for path in records.paths().filter(|path| counted.iter().all(|(known, _)| known != path)) {
        within = false;
        remarks.push(format!(
            "error: {path} has a record, and nobody counts it; set the records anew"
        ));
    }
    for remark in remarks {
        println!("{remark}");
    }
    if !within {
        println!("{ADVICE}");
    }
    Ok(within)
}

fn bless() -> Result<bool, String> {
    if !records::HOLD_HERE {
        return Err(format!("the records hold for {}; set them there", records::TARGET));
    }
    let records = Records { rustc: rustc()?, counts: count_all()? };
    fs::write(file(), records.to_string())
        .map_err(|error| format!("{} cannot be written: {error}", file().display()))?;
    print!("{records}");
    Ok(true)
}

fn count_all() -> Result<Vec<(String, Count)>, String> {
    paths::PATHS.iter().map(|(path, _)| Ok(((*path).to_owned(), Count::of(path)?))).collect()
}

fn file() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/records.txt"))
}

fn read() -> Result<String, String> {
    fs::read_to_string(file())
        .map_err(|error| format!("{} cannot be read: {error}; --bless writes it", file().display()))
}

/// The compiler, as it tells its version.
fn rustc() -> Result<String, String> {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(&rustc)
        .arg("--version")
        .output()
        .map_err(|error| format!("{} cannot be run: {error}", rustc.display()))?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
