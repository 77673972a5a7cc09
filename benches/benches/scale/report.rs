//! What was measured, and whether it is what it must be.

use std::process::ExitCode;

use resilience_bench::machine;

pub(super) struct Report {
    rows: Vec<[String; 3]>,
    failures: Vec<String>,
}

impl Report {
    pub(super) fn new() -> Self {
        Self { rows: Vec::new(), failures: Vec::new() }
    }

    /// A figure that nothing is expected of: it is the machine's as much as ours.
    pub(super) fn tell(&mut self, what: &str, measured: String) {
        self.rows.push([what.to_owned(), measured, String::new()]);
    }

    /// A figure, what must hold of it, and whether it does.
    pub(super) fn expect(&mut self, what: &str, measured: String, expected: &str, holds: bool) {
        if !holds {
            self.failures.push(format!("{what}: {measured}, expected {expected}"));
        }
        self.rows.push([what.to_owned(), measured, expected.to_owned()]);
    }

    pub(super) fn finish(self) -> ExitCode {
        let titles = ["what", "measured", "must be"].map(str::to_owned);
        let widths: [usize; 3] = std::array::from_fn(|column| {
            let rows = self.rows.iter().chain([&titles]);
            rows.map(|row| row[column].chars().count()).max().unwrap_or_default()
        });
        let line = |[what, measured, expected]: &[String; 3]| {
            let [w0, w1, w2] = widths;
            println!("| {what:w0$} | {measured:>w1$} | {expected:w2$} |");
        };
        println!("{}.\n", machine::description());
        line(&titles);
        line(&["-".repeat(widths[0]), "-".repeat(widths[1] - 1) + ":", "-".repeat(widths[2])]);
        self.rows.iter().for_each(line);
        for failure in &self.failures {
            eprintln!("does not hold: {failure}");
        }
        if self.failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }
}
