use std::{env::consts, fs, thread};

use serde::Serialize;

/// What a number depends on that was measured here.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Machine {
    os: &'static str,
    arch: &'static str,
    /// How many threads can run at once.
    cores: usize,
    /// Whether the demo was built with optimisations.
    is_optimised: bool,
    /// The name of the processor, where the system tells.
    cpu: Option<String>,
    /// How many threads wanted to run in the minute before, on average, where the system tells.
    load: Option<f64>,
}

impl Machine {
    pub(super) fn this() -> Self {
        Self {
            os: consts::OS,
            arch: consts::ARCH,
            cores: thread::available_parallelism().map_or(1, usize::from),
            is_optimised: !cfg!(debug_assertions),
            cpu: fs::read_to_string("/proc/cpuinfo").ok().and_then(|text| model(&text)),
            load: fs::read_to_string("/proc/loadavg").ok().and_then(|text| last_minute(&text)),
        }
    }
}

fn model(cpuinfo: &str) -> Option<String> {
    let line = cpuinfo.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

fn last_minute(loadavg: &str) -> Option<f64> {
    loadavg.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_linux_tells_is_read() {
        let cpuinfo = "processor\t: 0\nmodel name\t: A CPU: fast\nmodel name\t: another\n";
        assert_eq!(model(cpuinfo).as_deref(), Some("A CPU: fast"));
        assert_eq!(last_minute("0.50 0.25 0.10 1/234 5678\n"), Some(0.5));
        assert_eq!((model(""), last_minute("")), (None, None));
    }
}
