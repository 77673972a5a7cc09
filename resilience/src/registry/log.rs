//! What a registry logs.

use resilience_settings::Pattern;

use super::Change;
use crate::{
    config::{ConfigError, Finding, Severity, findings::lease_bound},
    events::bounded,
    harmless::harmless,
};

/// How many changes are logged one by one.
const MAX_LINES: usize = 100;

/// How long the text of an error is at most.
const MAX_ERROR: usize = 8192;

pub(super) fn reloaded(changes: &[Change]) {
    harmless(|| {
        tracing::info!(
            target: "resilience",
            "configuration reloaded; settings that changed: {}",
            changes.len()
        );
    });
    for change in changes.iter().take(MAX_LINES) {
        harmless(|| tracing::info!(target: "resilience", "{change}"));
    }
    if let Some(more) = changes.len().checked_sub(MAX_LINES).filter(|more| *more > 0) {
        harmless(|| tracing::info!(target: "resilience", "{more} more settings changed"));
    }
}

pub(super) fn refused(error: &ConfigError) {
    let error = bounded(error.to_string(), MAX_ERROR);
    harmless(|| {
        tracing::warn!(
            target: "resilience",
            "reload failed, the configuration in force stays: {error}"
        );
    });
}

pub(super) fn switched(pattern: Pattern, on: bool) {
    let state = if on { "on" } else { "off" };
    harmless(|| tracing::info!(target: "resilience", "{pattern} switched {state} at run time"));
}

pub(super) fn switch_cleared(pattern: Pattern) {
    harmless(|| {
        tracing::info!(target: "resilience", "{pattern} is switched by the configuration again");
    });
}

pub(super) fn found(finding: &Finding) {
    harmless(|| {
        if finding.code == lease_bound::CODE {
            tracing::info!(target: "resilience::store", "{finding}");
        } else if finding.severity == Severity::Hint {
            tracing::info!(target: "resilience", "{finding}");
        } else {
            tracing::warn!(target: "resilience", "{finding}");
        }
    });
}

#[cfg(test)]
mod tests {
    use resilience_settings::Value;

    use super::*;
    use crate::{config::Origin, test_support::capture::Capture};

    #[test]
    fn changes_are_logged_one_by_one_up_to_a_hundred() {
        let change = |n: u64| Change {
            path: format!("retry.instances.{n}.max_attempts"),
            old: Some((Value::Integer(3), Origin::Default)),
            new: Some((Value::Integer(n), Origin::Code)),
        };
        let (capture, _guard) = Capture::start();
        reloaded(&(0..123).map(change).collect::<Vec<_>>());
        let logs = capture.logs();
        let message = |n: usize| logs[n].fields.get("message");
        assert_eq!(logs.len(), 1 + 100 + 1);
        assert_eq!(message(0), "configuration reloaded; settings that changed: 123");
        assert_eq!(message(8), "retry.instances.7.max_attempts: 3 (default) -> 7 (code)");
        assert_eq!(message(101), "23 more settings changed");
    }
}
