//! The command `resilience`, which answers questions about configuration files before a program runs
//! on them.
//!
//! ```text
//! resilience check resilience.yaml               what is in force, and what is wrong with it
//! resilience explain resilience.yaml payment     what it means, in sentences
//! resilience simulate resilience.yaml --scenario outage.yaml
//! resilience import application.yml              Spring's file as one of ours
//! ```
//!
//! Everything is decided by the library's own loader, rules and state machines.

mod check;
mod explain;
mod import;
mod output;
mod simulate;
mod sources;
mod time;

use std::{ffi::OsString, process::ExitCode};

use clap::{Parser, Subcommand};

use output::Output;

/// Checks, explains, imports and simulates configuration files.
#[derive(Debug, Parser)]
#[command(name = "resilience", version)]
struct Command {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Shows every setting in force with its origin, and what is wrong or questionable
    Check(check::Arguments),
    /// Tells in sentences what the instances of a name do
    Explain(explain::Arguments),
    /// Writes the settings of a Spring application's file as a file of this library
    Import(import::Arguments),
    /// Runs instances against a described backend on virtual time
    Simulate(simulate::Arguments),
}

/// Runs the command with these arguments, the program's name first, and gives its exit status: 0 if
/// all is well, 1 if something is wrong with a file, 2 if something is with the arguments.
///
/// # Examples
///
/// ```
/// let status = resilience::cli::run(["resilience", "--version"].map(Into::into));
/// assert_eq!(format!("{status:?}"), format!("{:?}", std::process::ExitCode::SUCCESS));
/// ```
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let command = match Command::try_parse_from(arguments) {
        Ok(command) => command,
        Err(error) => {
            // It is told or, with the output gone, cannot be.
            let _ = error.print();
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
        }
    };
    let output = match command.task {
        Task::Check(arguments) => check::run(&arguments),
        Task::Explain(arguments) => explain::run(&arguments),
        Task::Import(arguments) => import::run(&arguments),
        Task::Simulate(arguments) => simulate::run(&arguments),
    };
    output.print()
}
