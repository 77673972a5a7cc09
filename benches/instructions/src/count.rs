//! One path, called a thousand times under valgrind.

use std::{env, fs, hint::black_box, process, process::Command};

use crate::{paths, profile::Profile};

/// The argument that has this program make the calls of a path.
pub(crate) const CALLS: &str = "--calls";

/// A multiple of what comes round: the default breaker's window has 100 places.
const COUNTED: u32 = 1000;
/// The first calls look instances up, fill windows and make room; none of that is the hot path.
const BEFORE: u32 = 200;

/// What a call takes on average.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Count {
    /// Of the program. Those of the C library are left out: it takes other ones on another processor.
    pub(crate) instructions: u64,
    pub(crate) clock_reads: u64,
    pub(crate) allocations: u64,
}

impl Count {
    /// Counts a path in a process of its own, so that no path meets what another left behind.
    pub(crate) fn of(path: &str) -> Result<Self, String> {
        let program = env::current_exe()
            .and_then(fs::canonicalize)
            .map_err(|error| format!("this program cannot find itself: {error}"))?;
        let file = env::temp_dir().join(format!("resilience-{path}-{}.callgrind", process::id()));
        let output = Command::new("valgrind")
            .args(["--tool=callgrind", "--toggle-collect=*counted_calls*"])
            .args(["--compress-strings=no", "--compress-pos=no"])
            .arg(format!("--callgrind-out-file={}", file.display()))
            .arg(&program)
            .args([CALLS, path])
            .output()
            .map_err(|error| format!("valgrind cannot be run: {error}; install its package"))?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            return Err(format!("{path} failed under valgrind:\n{said}"));
        }
        let text = fs::read_to_string(&file)
            .map_err(|error| format!("{} cannot be read: {error}", file.display()))?;
        let _ = fs::remove_file(&file);
        let profile = Profile::parse(&text, &program.to_string_lossy())?;
        Ok(Self {
            instructions: per_call(profile.instructions),
            clock_reads: per_call(profile.clock_reads),
            allocations: per_call(profile.allocations),
        })
    }
}

fn per_call(sum: u64) -> u64 {
    let calls = u64::from(COUNTED);
    (sum + calls / 2) / calls
}

/// What this program does under valgrind.
pub(crate) fn make_calls(path: &str) -> Result<(), String> {
    let known = || paths::PATHS.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
    let (_, make) = paths::PATHS
        .iter()
        .find(|(name, _)| *name == path)
        .ok_or_else(|| format!("there is no path {path}, but {}", known()))?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .map_err(|error| format!("no runtime can be made: {error}"))?;
    let _entered = runtime.enter();
    let mut call = make();
    for _ in 0..BEFORE {
        call();
    }
    counted_calls(&mut *call);
    Ok(())
}

/// Valgrind counts from where this function is entered to where it is left.
#[inline(never)]
fn counted_calls(call: &mut dyn FnMut()) {
    for _ in 0..COUNTED {
        black_box(&mut *call)();
    }
}
