//! The timeline as a picture.

use std::fmt::Write as _;

use super::record::{Record, Step};
use crate::circuit_breaker::State;

const WIDTH: f64 = 960.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 20.0;
const PLOT: f64 = WIDTH - LEFT - RIGHT;

/// The height of a row, and what is between two.
const ROW: f64 = 110.0;
const GAP: f64 = 40.0;
const STATE: f64 = 24.0;

const GREEN: &str = "#2e9e5b";
const RED: &str = "#d64545";
const AMBER: &str = "#e0a030";
const GREY: &str = "#8a94a3";
const BLUE: &str = "#3572b0";

pub(super) fn of(record: &Record) -> String {
    let mut picture =
        Picture { text: String::new(), seconds: record.steps.len().max(1), top: 40.0 };
    if record.has_breaker {
        picture.states(record);
    }
    picture.calls(record);
    if record.has_breaker {
        picture.rates(record);
    }
    picture.latencies(record);
    let height = picture.top;
    let body = picture.text;
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" \
         shape-rendering=\"crispEdges\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"{WIDTH}\" height=\"{height}\" fill=\"#ffffff\"/>\n{body}</svg>\n"
    )
}

struct Picture {
    text: String,
    seconds: usize,
    /// Where the next row begins.
    top: f64,
}

#[expect(clippy::cast_precision_loss, reason = "a pixel is coarser")]
impl Picture {
    /// Where a second begins, from left.
    fn x(&self, second: usize) -> f64 {
        LEFT + PLOT * second as f64 / self.seconds as f64
    }

    fn line(&mut self, line: std::fmt::Arguments<'_>) {
        let _ = writeln!(self.text, "{line}"); // a String takes everything
    }

    /// The name above a row, in one colour for each part that it has.
    fn head(&mut self, parts: &[(&str, &str)]) {
        let y = self.top - 8.0;
        let x = LEFT - 8.0;
        self.line(format_args!("<text x=\"{x}\" y=\"{y:.1}\">"));
        for (name, colour) in parts {
            self.line(format_args!("<tspan fill=\"{colour}\" dx=\"8\">{name}</tspan>"));
        }
        self.line(format_args!("</text>"));
    }

    fn states(&mut self, record: &Record) {
        self.head(&[("CLOSED", GREEN), ("OPEN", RED), ("HALF_OPEN", AMBER), ("others", GREY)]);
        for (second, step) in record.steps.iter().enumerate() {
            let colour = match step.state {
                Some(State::Closed) => GREEN,
                Some(State::Open) => RED,
                Some(State::HalfOpen) => AMBER,
                _ => GREY,
            };
            self.bar(second, (self.top, STATE), colour);
        }
        self.top += STATE + GAP;
    }

    /// Stacked: what went well lowest.
    fn calls(&mut self, record: &Record) {
        self.head(&[
            ("ok", GREEN),
            ("failed", RED),
            ("timed out", AMBER),
            ("refused (calls a second)", GREY),
        ]);
        let parts = |step: &Step| {
            let ended = step.ended;
            [
                (ended.ok, GREEN),
                (ended.failed, RED),
                (ended.timed_out, AMBER),
                (ended.refused(), GREY),
            ]
        };
        let sum = |step: &Step| parts(step).iter().map(|(n, _)| n).sum::<u64>();
        let most = record.steps.iter().map(sum).max().unwrap_or(0).max(1);
        for (second, step) in record.steps.iter().enumerate() {
            let mut bottom = self.top + ROW;
            for (n, colour) in parts(step) {
                let height = ROW * n as f64 / most as f64;
                bottom -= height;
                self.bar(second, (bottom, height), colour);
            }
        }
        self.axis(&most.to_string(), "0");
    }

    fn rates(&mut self, record: &Record) {
        self.head(&[("failure rate", RED)]);
        self.curve(record, RED, |step| Some(f64::from(step.failure_rate?) / 100.0));
        self.axis("100%", "0%");
    }

    fn latencies(&mut self, record: &Record) {
        self.head(&[("p50", BLUE), ("p99 of the latency", AMBER)]);
        let most = record.steps.iter().filter_map(|step| step.percentile(99)).max();
        let most = most.unwrap_or_default();
        let of = |percent| {
            move |step: &Step| {
                let time = step.percentile(percent)?.as_secs_f64();
                Some(time / most.as_secs_f64().max(1e-9))
            }
        };
        self.curve(record, AMBER, of(99));
        self.curve(record, BLUE, of(50));
        let most = std::time::Duration::from_millis(u64::try_from(most.as_millis()).unwrap_or(0));
        self.axis(&crate::cli::time::readable(most), "0");
    }

    fn bar(&mut self, second: usize, (top, height): (f64, f64), colour: &str) {
        if height > 0.0 {
            let x = self.x(second);
            let width = self.x(second + 1) - x;
            self.line(format_args!(
                "<rect x=\"{x:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" \
                 fill=\"{colour}\"/>"
            ));
        }
    }

    /// A line through the values, each from 0 to 1, that is broken where there are none.
    fn curve(&mut self, record: &Record, colour: &str, value: impl Fn(&Step) -> Option<f64>) {
        let mut path = String::new();
        let mut pen_is_down = false;
        for (second, step) in record.steps.iter().enumerate() {
            let Some(value) = value(step) else {
                pen_is_down = false;
                continue;
            };
            let (from, to) = (self.x(second), self.x(second + 1));
            let y = self.top + ROW * (1.0 - value.clamp(0.0, 1.0));
            let pen = if pen_is_down { 'L' } else { 'M' };
            let _ = write!(path, "{pen}{from:.1} {y:.1}H{to:.1}");
            pen_is_down = true;
        }
        self.line(format_args!(
            "<path d=\"{path}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.5\"/>"
        ));
    }

    /// The frame of a row with its highest and lowest value, and the seconds below it.
    fn axis(&mut self, highest: &str, lowest: &str) {
        let (top, bottom) = (self.top, self.top + ROW);
        let x = LEFT - 6.0;
        self.line(format_args!(
            "<path d=\"M{LEFT} {top:.1}V{bottom:.1}H{:.1}\" fill=\"none\" stroke=\"#444\"/>",
            LEFT + PLOT
        ));
        for (y, label) in [(top + 10.0, highest), (bottom, lowest)] {
            self.line(format_args!(
                "<text x=\"{x}\" y=\"{y:.1}\" text-anchor=\"end\">{label}</text>"
            ));
        }
        let every = [1, 5, 10, 30, 60, 300, 600].into_iter().find(|n| self.seconds / n <= 12);
        for second in (0..=self.seconds).step_by(every.unwrap_or(600)) {
            let (x, y) = (self.x(second), bottom + 14.0);
            self.line(format_args!(
                "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"middle\" fill=\"#666\">{second}s</text>"
            ));
        }
        self.top += ROW + GAP;
    }
}
