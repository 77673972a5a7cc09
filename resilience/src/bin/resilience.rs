//! The command `resilience`: see [`resilience::cli`].

use std::process::ExitCode;

fn main() -> ExitCode {
    resilience::cli::run(std::env::args_os())
}
