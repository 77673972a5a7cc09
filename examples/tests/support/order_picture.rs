//! The order of the layers, drawn from what they told of one real call.

#![allow(clippy::unwrap_used, reason = "a failure here fails the test")]

use std::{
    fmt::Write as _,
    future::pending,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
};

use resilience::{
    CallError, Config, Error, ErrorKind, Resilience, bulkhead, circuit_breaker,
    config::Format,
    events::{Event, Events},
    rate_limiter, retry, time_limiter,
};

/// From outside to inside, each with what it is for.
const LAYERS: [(&str, &str); 7] = [
    ("fallback", "sees what is left at the end"),
    ("retry", "each attempt passes through all below"),
    ("circuit breaker", "records every attempt"),
    ("rate limiter", "spends a permit"),
    ("time limiter", "its clock runs from here"),
    ("bulkhead", "holds a slot meanwhile"),
    ("your function", ""),
];

const CONFIG: &str = "
retry.instances.charge: { max_attempts: 5, wait_duration: 100ms }
circuitbreaker.instances.charge: { sliding_window_size: 2, minimum_number_of_calls: 2 }
timelimiter.instances.charge: { timeout_duration: 2s }
";

const INDENT: usize = 10;
const ROW: usize = 38;
const WIDTH: usize = 980;
const STEPS_FROM: usize = 370;
const LEGEND_ROW: usize = 20;

/// For a light and a dark reader.
const STYLE: &str = "<style>
text { font: 13px system-ui, sans-serif; fill: #1a2028; }
rect { fill: #0072b2; fill-opacity: 0.06; stroke: #0072b2; stroke-opacity: 0.45; }
polyline { fill: none; stroke: #c24f00; stroke-width: 2; stroke-linejoin: round; }
circle { fill: #c24f00; }
.name { font-weight: 600; }
.quiet { fill: #535e6b; }
.step { fill: #fff; font-size: 11px; font-weight: 600; text-anchor: middle; }
@media (prefers-color-scheme: dark) {
  text { fill: #e6eaf0; }
  rect { fill: #56b4e9; stroke: #56b4e9; }
  .quiet { fill: #a3aebb; }
}
</style>
";

/// What happened, in order: the layer and its words for it.
type Steps = Vec<(usize, String)>;

#[derive(Clone, Default)]
struct Notes(Arc<Mutex<Steps>>);

impl Notes {
    fn note(&self, layer: &str, what: &str) {
        let layer = LAYERS.iter().position(|(name, _)| *name == layer).unwrap();
        self.0.lock().unwrap().push((layer, what.to_owned()));
    }

    fn listen<E: Event + 'static>(&self, layer: &'static str, events: &Events<E>) {
        let notes = self.clone();
        let note = move |event: &E| {
            notes.note(layer, &event.type_name().to_lowercase().replace('_', " "));
        };
        events.subscribe(note).forever();
    }
}

#[derive(Debug, thiserror::Error, ErrorKind)]
enum ChargeError {
    #[error("the provider failed")]
    Failed,
    #[error(transparent)]
    Refused(#[from] Error),
}

/// Fails, then hangs, which opens the breaker.
#[retry(name = "charge", fallback = later)]
#[circuit_breaker(name = "charge")]
#[rate_limiter(name = "charge")]
#[time_limiter(name = "charge")]
#[bulkhead(name = "charge")]
async fn charge(notes: Notes, hangs: Arc<AtomicBool>) -> Result<&'static str, ChargeError> {
    if hangs.swap(true, Ordering::Relaxed) {
        notes.note("your function", "hangs");
        return pending().await;
    }
    notes.note("your function", "fails");
    Err(ChargeError::Failed)
}

async fn later(
    notes: Notes,
    _: Arc<AtomicBool>,
    _: CallError<ChargeError>,
) -> Result<&'static str, ChargeError> {
    notes.note("fallback", "answers");
    Ok("PENDING")
}

/// Makes the call and returns what the layers told of it.
async fn run() -> Steps {
    let config = Config::builder().env(false).text(CONFIG, Format::Yaml).load().unwrap();
    let registry = Resilience::from_config(config).unwrap();
    let notes = Notes::default();
    notes.listen("retry", &registry.retry("charge").events());
    notes.listen("circuit breaker", &registry.circuit_breaker("charge").events());
    notes.listen("rate limiter", &registry.rate_limiter("charge").events());
    notes.listen("time limiter", &registry.time_limiter("charge").events());
    notes.listen("bulkhead", &registry.bulkhead("charge").events());
    let answer = registry.scope(charge(notes.clone(), Arc::default())).await;
    assert_eq!(answer.unwrap(), "PENDING");
    std::mem::take(&mut *notes.0.lock().unwrap())
}

/// An SVG of the layers, one within the other, and of the way that a call took through them.
pub(crate) async fn draw() -> String {
    let steps = run().await;
    let boxes_end = INDENT + LAYERS.len() * (ROW + INDENT);
    let half = steps.len().div_ceil(2);
    let height = boxes_end + 2 * INDENT + half * LEGEND_ROW;
    let x = |step: usize| STEPS_FROM + step * (WIDTH - STEPS_FROM - 90) / (steps.len() - 1);
    let y = |layer: usize| INDENT + layer * ROW + ROW / 2;

    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" role=\"img\">\n\
         <title>The order of the layers, and the way of one call through them</title>\n{STYLE}"
    );
    for (layer, (name, role)) in LAYERS.iter().enumerate() {
        let inset = INDENT * (layer + 1);
        let top = INDENT + layer * ROW;
        let (width, depth) = (WIDTH - 2 * inset, boxes_end - INDENT * layer - top);
        let text = top + ROW / 2 + 5;
        writeln!(
            svg,
            "<rect x=\"{inset}\" y=\"{top}\" width=\"{width}\" height=\"{depth}\" rx=\"6\"/>\n\
             <text x=\"{}\" y=\"{text}\"><tspan class=\"name\">{name}</tspan> \
             <tspan class=\"quiet\">{role}</tspan></text>",
            inset + 10,
        )
        .unwrap();
    }
    let way: Vec<_> = steps.iter().enumerate().map(|(at, (layer, _))| (x(at), y(*layer))).collect();
    let points: Vec<_> = way.iter().map(|(x, y)| format!("{x},{y}")).collect();
    writeln!(svg, "<polyline points=\"{}\"/>", points.join(" ")).unwrap();
    for (at, (x, y)) in way.iter().enumerate() {
        let (number, text) = (at + 1, y + 4);
        writeln!(
            svg,
            "<circle cx=\"{x}\" cy=\"{y}\" r=\"10\"/>\
             <text class=\"step\" x=\"{x}\" y=\"{text}\">{number}</text>"
        )
        .unwrap();
    }
    for (at, (layer, what)) in steps.iter().enumerate() {
        let x = INDENT * 2 + (at / half) * WIDTH / 2;
        let y = boxes_end + 2 * INDENT + (at % half) * LEGEND_ROW;
        let (number, name) = (at + 1, LAYERS[*layer].0);
        writeln!(
            svg,
            "<text x=\"{x}\" y=\"{y}\">{number}. <tspan class=\"name\">{name}</tspan> {what}</text>"
        )
        .unwrap();
    }
    svg.push_str("</svg>\n");
    svg
}
