//! The result of a run: one table of all rows.

use std::fmt;

use crate::{machine, versions};

/// Which of many measurements stands for them.
#[derive(Clone, Copy)]
pub(crate) enum Of {
    /// What else there is on a machine, neighbours of a virtual one among it, only makes a call slower.
    Fastest,
    /// Two threads may have luck, too, and not get in each other's way.
    Median,
}

impl Of {
    pub(crate) fn among(self, nanos: &mut [f64]) -> f64 {
        nanos.sort_by(f64::total_cmp);
        match self {
            Self::Fastest => nanos[0],
            Self::Median => nanos[nanos.len() / 2],
        }
    }
}

pub(crate) struct Row {
    case: String,
    by: String,
    of: Of,
    /// One of each pass.
    nanos: Vec<f64>,
    /// None where several threads make the calls: the count is one thread's.
    allocations: Option<f64>,
}

pub(crate) struct Table {
    pub(crate) rows: Vec<Row>,
    /// What a clock read took before the first row.
    clock_at_start: f64,
}

impl Table {
    pub(crate) fn new() -> Self {
        Self { rows: Vec::new(), clock_at_start: machine::clock_read() }
    }

    /// Adds what one pass has measured for a row.
    pub(crate) fn add(
        &mut self,
        case: &str,
        by: &str,
        of: Of,
        nanos: f64,
        allocations: Option<f64>,
    ) {
        match self.rows.iter_mut().find(|row| row.case == case && row.by == by) {
            Some(row) => row.nanos.push(nanos),
            None => self.rows.push(Row {
                case: case.to_owned(),
                by: by.to_owned(),
                of,
                nanos: vec![nanos],
                allocations,
            }),
        }
    }
}

const PEERS: [&str; 8] = [
    "backon",
    "failsafe",
    "governor",
    "recloser",
    "seatbelt",
    "tokio",
    "tower",
    "tower-resilience",
];

/// Markdown, aligned so that it reads on a terminal too.
impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let clock_at_end = machine::clock_read();
        let clock = self.clock_at_start.min(clock_at_end);
        writeln!(f, "{}. {}.", machine::description(), PEERS.map(versions::of).join(", "))?;
        writeln!(
            f,
            "c, one `Instant::now()`, took {:.1} ns before the first row and {clock_at_end:.1} ns after the \
             last; the table takes {clock:.1}.\n",
            self.clock_at_start
        )?;
        let titles =
            ["case", "by", "ns per call", "in c", "million calls/s", "allocations per call"];
        let cells: Vec<_> = self.rows.iter().map(|row| row.cells(clock)).collect();
        let widths: [usize; 6] = std::array::from_fn(|column| {
            let cells = cells.iter().map(|row| row[column].chars().count());
            cells.chain([titles[column].len()]).max().unwrap_or_default()
        });
        line(f, &titles.map(str::to_owned), widths)?;
        let rule = |column: usize| match column {
            0 | 1 => "-".repeat(widths[column]),
            _ => "-".repeat(widths[column] - 1) + ":", // numbers stand to the right
        };
        line(f, &std::array::from_fn(rule), widths)?;
        let mut before = "";
        for (row, mut cells) in self.rows.iter().zip(cells) {
            if row.case == before {
                cells[0].clear(); // a case is named once, above its peers
            }
            before = &row.case;
            line(f, &cells, widths)?;
        }
        Ok(())
    }
}

fn line(f: &mut fmt::Formatter<'_>, cells: &[String; 6], widths: [usize; 6]) -> fmt::Result {
    let [case, by, nanos, clocks, rate, allocations] = cells;
    let [w0, w1, w2, w3, w4, w5] = widths;
    writeln!(
        f,
        "| {case:w0$} | {by:w1$} | {nanos:>w2$} | {clocks:>w3$} | {rate:>w4$} | {allocations:>w5$} |"
    )
}

impl Row {
    fn cells(&self, clock: f64) -> [String; 6] {
        let allocations = |many: f64| {
            if many.fract() == 0.0 { format!("{many:.0}") } else { format!("{many:.2}") }
        };
        let nanos = self.of.among(&mut self.nanos.clone());
        [
            self.case.clone(),
            self.by.clone(),
            if nanos < 100.0 { format!("{nanos:.1}") } else { format!("{nanos:.0}") },
            format!("{:.1}", nanos / clock),
            format!("{:.2}", 1e3 / nanos),
            self.allocations.map_or_else(String::new, allocations),
        ]
    }
}
