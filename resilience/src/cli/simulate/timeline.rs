//! The seconds as columns, a character each.

use std::fmt::Write as _;

use super::{
    bars::bar,
    record::{Record, Step},
};
use crate::circuit_breaker::State;

/// How many seconds stand on one line.
const SECONDS: usize = 60;

/// A name and what it shows of a second, as a number.
type Row = (&'static str, fn(&Step) -> f64);

#[expect(clippy::cast_precision_loss, reason = "a bar has eight steps")]
const ROWS: [Row; 5] = [
    ("rate", |step| step.failure_rate.unwrap_or(0.0).into()),
    ("backend", |step| step.reached as f64),
    ("ok", |step| step.ended.ok as f64),
    ("failed", |step| (step.ended.failed + step.ended.timed_out) as f64),
    ("refused", |step| step.ended.refused() as f64),
];

/// Each row against its own highest, but for rates, which are percents.
pub(super) fn of(record: &Record) -> String {
    let mut text = String::new();
    let most = |(name, value): &Row| match *name {
        "rate" => 100.0,
        _ => record.steps.iter().map(value).fold(0.0, f64::max),
    };
    for (at, seconds) in record.steps.chunks(SECONDS).enumerate() {
        let from = at * SECONDS;
        // A String takes everything.
        let _ = writeln!(text, "from {from}s, a column for each second");
        if record.has_breaker {
            let states: String = seconds.iter().map(|step| letter(step.state)).collect();
            let _ = writeln!(text, "{:>8}  {states}", "state");
        }
        for row in ROWS.iter().filter(|(name, _)| record.has_breaker || *name != "rate") {
            let most = most(row);
            let bars: String = seconds.iter().map(|step| bar((row.1)(step), most)).collect();
            let _ = writeln!(text, "{:>8}  {}", row.0, bars.trim_end());
        }
    }
    if record.has_breaker {
        text.push_str(
            "state: C closed, O open, H half-open, F forced open, D disabled, M metrics only\n",
        );
    }
    text
}

fn letter(state: Option<State>) -> char {
    match state {
        Some(State::Closed) => 'C',
        Some(State::Open) => 'O',
        Some(State::HalfOpen) => 'H',
        Some(State::ForcedOpen) => 'F',
        Some(State::Disabled) => 'D',
        Some(State::MetricsOnly) => 'M',
        None => ' ',
    }
}
