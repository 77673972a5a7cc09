use super::{
    events_lost,
    part::{about_keys, parts},
};
use crate::{
    CircuitBreaker, Resilience,
    circuit_breaker::{Observation, State, Timings},
    metrics::family::{About, Families, Owner, Writer, number},
};

static STATE: About = About::gauge(
    "resilience4j_circuitbreaker_state",
    &["state"],
    "1 for the state that the breaker is in, 0 for the others",
);
static BUFFERED: About = About::gauge(
    "resilience4j_circuitbreaker_buffered_calls",
    &["kind"],
    "Calls in the sliding window",
);
static MAX_BUFFERED: About = About::gauge(
    "resilience4j_circuitbreaker_max_buffered_calls",
    &[],
    "Size of the sliding window: calls, or seconds where it is time-based",
);
static SLOW: About = About::gauge(
    "resilience4j_circuitbreaker_slow_calls",
    &["kind"],
    "Slow calls in the sliding window",
);
static FAILURE_RATE: About = About::gauge(
    "resilience4j_circuitbreaker_failure_rate",
    &[],
    "Failed calls in percent of those in the window, -1 while there are too few",
);
static SLOW_RATE: About = About::gauge(
    "resilience4j_circuitbreaker_slow_call_rate",
    &[],
    "Slow calls in percent of those in the window, -1 while there are too few",
);
static DURATIONS: About = About::histogram(
    "resilience4j_circuitbreaker_calls_seconds",
    &["kind"],
    "How long calls took, those of all keys of the name together",
);
static LONGEST: About = About::gauge(
    "resilience4j_circuitbreaker_calls_seconds_max",
    &["kind"],
    "How long the longest recent call took",
);
static CALLS: About = About::counter(
    "resilience4j_circuitbreaker_calls_total",
    &["kind"],
    "Calls that were permitted, by how they ended",
);
static NOT_PERMITTED: About = About::counter(
    "resilience4j_circuitbreaker_not_permitted_calls_total",
    &["kind"],
    "Calls that the breaker has refused",
);
static TRANSITIONS: About =
    About::counter("resilience4j_circuitbreaker_transitions_total", &[], "Changes of state");

pub(super) fn collect(registry: &Resilience, families: &mut Families) {
    for breaker in registry.circuit_breakers() {
        for part in parts(&breaker) {
            let mut out = families.of(part.owner);
            let [successful, failed, ignored, cancelled, not_permitted, transitions] = part.counts;
            out.count(&CALLS, &["successful"], successful);
            out.count(&CALLS, &["failed"], failed);
            out.count(&CALLS, &["ignored"], ignored);
            out.count(&CALLS, &["cancelled"], cancelled);
            out.count(&NOT_PERMITTED, &["not_permitted"], not_permitted);
            out.count(&TRANSITIONS, &[], transitions);
            if let Some(breaker) = part.live {
                state(&breaker, &mut out);
            }
        }
        durations(&breaker.timings(), &mut families.of(Owner::named(breaker.name())));
        about_keys(&breaker, &breaker.keyed_metrics(), families);
        events_lost(&breaker, breaker.events().lost(), families);
    }
}

fn state(breaker: &CircuitBreaker, out: &mut Writer<'_>) {
    // One look, so that the state and the rates are of one moment.
    let Observation { state, config, metrics, .. } = breaker.observe();
    for other in State::ALL {
        out.level(&STATE, label(other), if other == state { 1.0 } else { 0.0 });
    }
    out.level(&BUFFERED, &["failed"], number(metrics.failed_calls));
    out.level(&BUFFERED, &["successful"], number(metrics.successful_calls));
    out.level(&MAX_BUFFERED, &[], config.sliding_window_size().into());
    out.level(&SLOW, &["failed"], number(metrics.slow_failed_calls));
    out.level(&SLOW, &["successful"], number(metrics.slow_successful_calls));
    out.level(&FAILURE_RATE, &[], metrics.failure_rate.into());
    out.level(&SLOW_RATE, &[], metrics.slow_call_rate.into());
}

fn durations(timings: &Timings, out: &mut Writer<'_>) {
    let kinds: [(&[&str], _); 3] = [
        (&["successful"], timings.successful),
        (&["failed"], timings.failed),
        (&["ignored"], timings.ignored),
    ];
    for (kind, timing) in kinds {
        out.level(&LONGEST, kind, timing.max.as_secs_f64());
        out.lengths(&DURATIONS, kind, timing);
    }
}

/// The value of the label `state`.
fn label(state: State) -> &'static [&'static str] {
    match state {
        State::Closed => &["closed"],
        State::Open => &["open"],
        State::HalfOpen => &["half_open"],
        State::ForcedOpen => &["forced_open"],
        State::Disabled => &["disabled"],
        State::MetricsOnly => &["metrics_only"],
    }
}
