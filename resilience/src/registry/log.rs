//! What a registry logs.

use resilience_settings::Pattern;

use super::Change;
use crate::{config::ConfigError, events::bounded};

/// How many changes are logged one by one.
const MAX_LINES: usize = 100;

/// How long the text of an error is at most.
const MAX_ERROR: usize = 8192;

pub(super) fn reloaded(changes: &[Change]) {
    tracing::info!(
        target: "resilience",
        "configuration reloaded; settings that changed: {}",
        changes.len()
    );
    for change in changes.iter().take(MAX_LINES) {
        tracing::info!(target: "resilience", "{change}");
    }
    if let Some(more) = changes.len().checked_sub(MAX_LINES).filter(|more| *more > 0) {
        tracing::info!(target: "resilience", "{more} more settings changed");
    }
}

pub(super) fn refused(error: &ConfigError) {
    let error = bounded(error.to_string(), MAX_ERROR);
    tracing::warn!(
        target: "resilience",
        "reload failed, the configuration in force stays: {error}"
    );
}

pub(super) fn switched(pattern: Pattern, on: bool) {
    let state = if on { "on" } else { "off" };
    tracing::info!(target: "resilience", "{pattern} switched {state} at run time");
}

pub(super) fn switch_cleared(pattern: Pattern) {
    tracing::info!(target: "resilience", "{pattern} is switched by the configuration again");
}

pub(super) fn warning(text: &str) {
    tracing::warn!(target: "resilience", "{text}");
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use resilience_settings::Value;
    use tracing::{
        Event, Subscriber,
        field::{Field, Visit},
        subscriber::with_default,
    };
    use tracing_subscriber::{Layer, layer::Context, layer::SubscriberExt, registry};

    use super::*;
    use crate::config::Origin;

    /// Keeps the messages that are logged.
    #[derive(Clone, Default)]
    struct Messages(Arc<Mutex<Vec<String>>>);

    impl<S: Subscriber> Layer<S> for Messages {
        fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
            event.record(&mut self.clone());
        }
    }

    impl Visit for Messages {
        fn record_debug(&mut self, _: &Field, value: &dyn std::fmt::Debug) {
            self.0.lock().expect("no panic under it").push(format!("{value:?}"));
        }
    }

    #[test]
    fn changes_are_logged_one_by_one_up_to_a_hundred() {
        let change = |n: u64| Change {
            path: format!("retry.instances.{n}.max_attempts"),
            old: Some((Value::Integer(3), Origin::Default)),
            new: Some((Value::Integer(n), Origin::Code)),
        };
        let messages = Messages::default();
        with_default(registry().with(messages.clone()), || {
            reloaded(&(0..123).map(change).collect::<Vec<_>>());
        });
        let messages = messages.0.lock().unwrap();
        assert_eq!(messages.len(), 1 + 100 + 1);
        assert_eq!(messages[0], "configuration reloaded; settings that changed: 123");
        assert_eq!(messages[8], "retry.instances.7.max_attempts: 3 (default) -> 7 (code)");
        assert_eq!(messages[101], "23 more settings changed");
    }
}
