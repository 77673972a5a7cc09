//! The seconds as lines.

use std::fmt::Write as _;

use super::record::{Ended, Record, Step};
use crate::cli::time::readable;

const COLUMNS: [&str; 11] = [
    "second", "state", "rate", "calls", "backend", "ok", "failed", "timeout", "refused", "p50",
    "p99",
];

pub(super) fn of(record: &Record) -> String {
    let mut rows = vec![COLUMNS.map(str::to_owned)];
    rows.extend(record.steps.iter().enumerate().map(|(at, step)| row(at + 1, step)));
    let widths: Vec<usize> = (0..COLUMNS.len())
        .map(|column| rows.iter().map(|row| row[column].len()).max().unwrap_or(0))
        .collect();
    let mut text = String::new();
    for row in &rows {
        let cells: Vec<String> = row
            .iter()
            .zip(&widths)
            .enumerate()
            // The state is a word and stands left.
            .map(|(at, (cell, &width))| match at {
                1 => format!("{cell:width$}"),
                _ => format!("{cell:>width$}"),
            })
            .collect();
        text.push_str(cells.join("  ").trim_end());
        text.push('\n');
    }
    summary(record, &mut text);
    text
}

fn row(second: usize, step: &Step) -> [String; COLUMNS.len()] {
    let dash = || "-".to_owned();
    let time = |percent| step.percentile(percent).map_or_else(dash, |time| readable(rounded(time)));
    let Step { ended, .. } = step;
    [
        second.to_string(),
        step.state.map_or_else(dash, |state| state.to_string()),
        step.failure_rate.map_or_else(dash, |rate| format!("{rate:.0}%")),
        step.arrived.to_string(),
        step.reached.to_string(),
        ended.ok.to_string(),
        ended.failed.to_string(),
        ended.timed_out.to_string(),
        ended.refused().to_string(),
        time(50),
        time(99),
    ]
}

/// To whole milliseconds: a table has no place for more.
fn rounded(time: std::time::Duration) -> std::time::Duration {
    let half = std::time::Duration::from_micros(500);
    let millis = (time + half).as_millis();
    std::time::Duration::from_millis(u64::try_from(millis).unwrap_or(u64::MAX))
}

fn summary(record: &Record, text: &mut String) {
    let ended = record.steps.iter().fold(Ended::default(), |sum, step| sum.plus(step.ended));
    let (mut arrived, mut reached) = (0, 0);
    for step in &record.steps {
        arrived += step.arrived;
        reached += step.reached;
    }
    let Ended { ok, failed, timed_out, not_permitted, rate_limited, bulkhead_full } = ended;
    // A String takes everything.
    let _ = write!(
        text,
        "\n{arrived} calls: {ok} ok, {failed} failed, {timed_out} timed out, {} refused \
         (circuit breaker {not_permitted}, rate limiter {rate_limited}, bulkhead {bulkhead_full}), \
         {} under way at the end; {reached} attempts reached the backend\n",
        ended.refused(),
        record.unfinished
    );
    for transition in &record.transitions {
        let _ = writeln!(
            text,
            "{:>8}  {} -> {}",
            readable(rounded(transition.at)),
            transition.from,
            transition.to
        );
    }
    if record.untold > 0 {
        let _ = writeln!(text, "          and {} more", record.untold);
    }
}
