//! A subscriber that keeps what it is told; integration tests have it too.

use std::{
    collections::{BTreeMap, HashMap},
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tracing::{
    Event, Level, Subscriber,
    field::{Field, Visit},
    span::{Attributes, Id, Record},
    subscriber::{DefaultGuard, set_default},
};
use tracing_subscriber::{
    Layer,
    layer::{Context, SubscriberExt},
    registry,
    registry::LookupSpan,
};

/// Keeps the spans and logs of the present thread.
#[derive(Clone, Default)]
pub(crate) struct Capture(Arc<Mutex<Seen>>);

#[derive(Default)]
struct Seen {
    spans: Vec<SeenSpan>,
    logs: Vec<SeenLog>,
    /// Where a living span is in the list.
    places: HashMap<u64, usize>,
}

/// The values of a span's or a log's fields, as text.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Fields(BTreeMap<&'static str, String>);

#[derive(Debug, Clone)]
pub(crate) struct SeenSpan {
    pub(crate) name: &'static str,
    /// The name of the span around it.
    pub(crate) parent: Option<&'static str>,
    pub(crate) fields: Fields,
    pub(crate) is_closed: bool,
}

#[derive(Debug, Clone)]
pub(crate) struct SeenLog {
    pub(crate) level: Level,
    /// The name of the span that it is in.
    pub(crate) span: Option<&'static str>,
    pub(crate) fields: Fields,
}

impl Capture {
    /// One that the present thread tells everything until the guard is dropped.
    pub(crate) fn start() -> (Self, DefaultGuard) {
        let capture = Self::default();
        let guard = set_default(registry().with(capture.clone()));
        (capture, guard)
    }

    /// In the order of their beginning.
    pub(crate) fn spans(&self) -> Vec<SeenSpan> {
        self.seen().spans.clone()
    }

    pub(crate) fn logs(&self) -> Vec<SeenLog> {
        self.seen().logs.clone()
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Fields {
    /// The value of a field, empty where there is none.
    pub(crate) fn get(&self, name: &str) -> &str {
        self.0.get(name).map_or("", String::as_str)
    }
}

impl Visit for Fields {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.insert(field.name(), value.to_owned());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.0.insert(field.name(), format!("{value:?}"));
    }
}

impl<S: Subscriber + for<'s> LookupSpan<'s>> Layer<S> for Capture {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let parent = context.span(id).and_then(|span| span.parent()).map(|parent| parent.name());
        let mut fields = Fields::default();
        attributes.record(&mut fields);
        let mut seen = self.seen();
        let place = seen.spans.len();
        seen.places.insert(id.into_u64(), place);
        let name = attributes.metadata().name();
        seen.spans.push(SeenSpan { name, parent, fields, is_closed: false });
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, _: Context<'_, S>) {
        self.seen().change(id, |span| values.record(&mut span.fields));
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let span = context.event_span(event).map(|span| span.name());
        let mut fields = Fields::default();
        event.record(&mut fields);
        self.seen().logs.push(SeenLog { level: *event.metadata().level(), span, fields });
    }

    fn on_close(&self, id: Id, _: Context<'_, S>) {
        self.seen().change(&id, |span| span.is_closed = true);
    }
}

impl Seen {
    fn change(&mut self, id: &Id, change: impl FnOnce(&mut SeenSpan)) {
        let place = self.places.get(&id.into_u64()).copied();
        if let Some(span) = place.and_then(|place| self.spans.get_mut(place)) {
            change(span);
        }
    }
}
