//! What the figures were taken on.

use std::{fs, hint::black_box, process::Command, thread, time::Instant};

/// The processor, its cores, the compiler and the day, as far as the system tells.
pub fn description() -> String {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let told = [
        processor(),
        Some(format!("{cores} cores")),
        first_line("rustc", &["-V"]),
        first_line("date", &["-u", "+%F"]),
    ];
    told.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn processor() -> Option<String> {
    let all = fs::read_to_string("/proc/cpuinfo").ok()?;
    let model = all.lines().find(|line| line.starts_with("model name"))?;
    Some(model.split_once(':')?.1.trim().to_owned())
}

fn first_line(command: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(command).args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    text.lines().next().map(str::to_owned)
}

/// What one `Instant::now()` takes, in nanoseconds: the fastest of the samples of half a second,
/// as for a row.
pub fn clock_read() -> f64 {
    const READS: u32 = 10_000;
    (0..2_000)
        .map(|_| {
            let start = Instant::now();
            for _ in 0..READS {
                black_box(Instant::now());
            }
            start.elapsed().as_secs_f64() * 1e9 / f64::from(READS)
        })
        .fold(f64::INFINITY, f64::min)
}

/// Memory that the process has in use, in bytes, where `/proc` tells it.
pub fn resident() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    Some(line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok()? * 1024)
}
