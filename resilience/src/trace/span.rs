use tracing::{Level, Span, field::Empty, level_filters::LevelFilter};

use super::{Names, outcome::Outcome};
use crate::{error::CallError, harmless::harmless};

/// The span of a call, if a subscriber wants it.
///
/// Where it is dropped before it was told of an end, the call was cancelled or its body has panicked.
/// Then it is left, too: no guard has to be kept for that, which a call without a span would pay for.
#[derive(Debug)]
pub(crate) struct CallSpan(Option<Box<Recording>>);

#[derive(Debug)]
struct Recording {
    span: Span,
    /// How often the present thread has entered it and has not left it yet.
    depth: u32,
    in_body: bool,
    attempts: u64,
}

impl CallSpan {
    #[inline]
    pub(crate) const fn none() -> Self {
        Self(None)
    }

    /// Starts the span of a call whose first attempt comes now.
    #[inline]
    pub(crate) fn start<'n>(names: impl FnOnce() -> Names<'n>) -> Self {
        if Self::is_wanted() { Self(begin(&names())) } else { Self(None) }
    }

    /// Whether there may be a subscriber that wants it.
    #[inline]
    pub(crate) fn is_wanted() -> bool {
        Level::INFO <= LevelFilter::current()
    }

    #[inline]
    pub(crate) fn is_on(&self) -> bool {
        self.0.is_some()
    }

    /// Enters the span, until [`leave`](Self::leave), before which the call must not wait.
    #[inline]
    pub(crate) fn enter(&mut self) {
        if let Some(recording) = &mut self.0 {
            recording.enter();
        }
    }

    #[inline]
    pub(crate) fn leave(&mut self) {
        if let Some(recording) = &mut self.0 {
            recording.leave();
        }
    }

    /// Says whether the body runs: if the span is dropped then, it has panicked.
    #[inline]
    pub(crate) fn in_body(&mut self, is_running: bool) {
        if let Some(recording) = &mut self.0 {
            recording.in_body = is_running;
        }
    }

    /// Takes note of another attempt.
    #[inline]
    pub(crate) fn again(&mut self) {
        if let Some(recording) = &mut self.0 {
            recording.attempts += 1;
        }
    }

    /// Ends the span.
    #[inline]
    pub(crate) fn end<T, E>(&mut self, result: &Result<T, CallError<E>>) {
        if let Some(recording) = self.0.take() {
            recording.end(Some(Outcome::of(result.as_ref().err())));
        }
    }
}

impl Drop for CallSpan {
    #[inline]
    fn drop(&mut self) {
        if let Some(recording) = self.0.take() {
            recording.end(None);
        }
    }
}

#[cold]
#[inline(never)]
fn begin(names: &Names<'_>) -> Option<Box<Recording>> {
    let mut span = Span::none();
    harmless(|| {
        span = tracing::info_span!(
            target: "resilience::call",
            "protected_call",
            retry = names.retry,
            circuit_breaker = names.circuit_breaker,
            rate_limiter = names.rate_limiter,
            time_limiter = names.time_limiter,
            bulkhead = names.bulkhead,
            attempts = Empty,
            outcome = Empty,
            refused_by = Empty,
        );
    });
    if span.is_disabled() {
        return None;
    }
    Some(Box::new(Recording { span, depth: 0, in_body: false, attempts: 1 }))
}

impl Recording {
    #[cold]
    #[inline(never)]
    fn enter(&mut self) {
        self.depth += 1;
        harmless(|| {
            self.span.with_subscriber(|(id, subscriber)| subscriber.enter(id));
        });
    }

    #[cold]
    #[inline(never)]
    fn leave(&mut self) {
        self.depth -= 1;
        harmless(|| {
            self.span.with_subscriber(|(id, subscriber)| subscriber.exit(id));
        });
    }

    /// Without an outcome the call was dropped.
    #[cold]
    #[inline(never)]
    fn end(mut self: Box<Self>, outcome: Option<Outcome>) {
        while self.depth > 0 {
            self.leave();
        }
        let outcome = outcome.unwrap_or(Outcome::of_dropped(self.in_body));
        harmless(|| {
            self.span.record("attempts", self.attempts);
            self.span.record("outcome", outcome.name);
            self.span.record("refused_by", outcome.refused_by);
        });
        harmless(|| drop(self));
    }
}

#[cfg(test)]
mod tests {
    use std::mem::size_of;

    use tracing::{
        Event, Subscriber, info_span,
        span::{Id, Record},
        subscriber::set_default,
    };
    use tracing_subscriber::{
        Layer,
        layer::{Context, SubscriberExt},
        registry,
    };

    use super::*;
    use crate::{
        Bulkhead, BulkheadConfig,
        test_support::capture::{Capture, SeenSpan},
    };

    fn names() -> Names<'static> {
        Names { retry: Some("payment"), ..Names::default() }
    }

    fn the_span(capture: &Capture) -> SeenSpan {
        let spans = capture.spans();
        spans.into_iter().find(|span| span.name == "protected_call").unwrap()
    }

    #[test]
    fn a_call_is_one_pointer_longer_for_it() {
        assert_eq!(size_of::<CallSpan>(), size_of::<usize>());
    }

    #[test]
    fn a_span_has_the_names_of_the_layers_there_are_and_is_a_child_of_the_present_one() {
        let (capture, _guard) = Capture::start();
        info_span!("request").in_scope(|| drop(CallSpan::start(names)));
        let span = the_span(&capture);
        assert_eq!(span.parent, Some("request"));
        assert_eq!(span.fields.get("retry"), "payment");
        assert_eq!(span.fields.get("bulkhead"), "");
        assert!(span.is_closed);
    }

    #[test]
    fn a_span_that_is_dropped_while_it_is_entered_is_left() {
        let (capture, _guard) = Capture::start();
        let mut span = CallSpan::start(names);
        span.enter();
        span.in_body(true);
        span.enter();
        tracing::info!("inside");
        drop(span);
        tracing::info!("outside");
        let logs = capture.logs();
        assert_eq!(
            logs.iter().map(|log| log.span).collect::<Vec<_>>(),
            [Some("protected_call"), None]
        );
        assert_eq!(the_span(&capture).fields.get("outcome"), "panic");
    }

    /// Panics whenever it hears of a span that is there.
    struct Panics;

    impl<S: Subscriber> Layer<S> for Panics {
        fn on_record(&self, _: &Id, _: &Record<'_>, _: Context<'_, S>) {
            panic!("subscriber");
        }
        fn on_enter(&self, _: &Id, _: Context<'_, S>) {
            panic!("subscriber");
        }
        fn on_exit(&self, _: &Id, _: Context<'_, S>) {
            panic!("subscriber");
        }
        fn on_event(&self, _: &Event<'_>, _: Context<'_, S>) {
            panic!("subscriber");
        }
        fn on_close(&self, _: Id, _: Context<'_, S>) {
            panic!("subscriber");
        }
    }

    #[tokio::test]
    async fn a_subscriber_that_panics_in_a_call_neither_ends_it_nor_keeps_its_place() {
        let _guard = set_default(registry().with(Panics));
        let bulkhead = Bulkhead::new("inventory", BulkheadConfig::default());
        let before = bulkhead.available_concurrent_calls();
        assert_eq!(bulkhead.call(async { Ok::<_, ()>(7) }).await, Ok(7));
        assert_eq!(bulkhead.available_concurrent_calls(), before);
        let panics = tokio::spawn({
            let bulkhead = bulkhead.clone();
            async move { bulkhead.call::<(), ()>(async { panic!("in the body") }).await }
        });
        assert!(panics.await.is_err());
        assert_eq!(bulkhead.available_concurrent_calls(), before);
    }
}
