use std::{fmt, sync::Arc};

use resilience_settings::Pattern;

use crate::{
    config::one_line,
    events::{Event, RecentEvent},
    sealed::SealedEvent,
};

/// Something that happened at a registry.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RegistryEvent {
    /// When it happened: nanoseconds since the Unix epoch on the registry's clock.
    pub at: u64,
    /// What happened.
    pub kind: RegistryEventKind,
}

/// What happened at a registry.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum RegistryEventKind {
    /// An instance was made: `ENTRY_ADDED`.
    EntryAdded {
        /// Its pattern.
        pattern: Pattern,
        /// Its name.
        name: Arc<str>,
    },
    /// An instance was removed: `ENTRY_REMOVED`. It lives on in handles that were kept.
    EntryRemoved {
        /// Its pattern.
        pattern: Pattern,
        /// Its name.
        name: Arc<str>,
    },
    /// Another configuration is in force: `RELOADED`.
    Reloaded {
        /// How many settings have another value now.
        changes: usize,
    },
    /// Another configuration could not be read or was refused, and nothing was changed:
    /// `RELOAD_FAILED`.
    ReloadFailed {
        /// What is wrong, at most [`MAX_EVENT_TEXT`](crate::events::MAX_EVENT_TEXT) bytes.
        error: Arc<str>,
    },
}

impl SealedEvent for RegistryEvent {
    fn add_details(&self, recent: &mut RecentEvent) {
        if let RegistryEventKind::ReloadFailed { error } = &self.kind {
            recent.error = Some(one_line(error));
        }
    }
}

impl Event for RegistryEvent {
    fn type_name(&self) -> &'static str {
        match self.kind {
            RegistryEventKind::EntryAdded { .. } => "ENTRY_ADDED",
            RegistryEventKind::EntryRemoved { .. } => "ENTRY_REMOVED",
            RegistryEventKind::Reloaded { .. } => "RELOADED",
            RegistryEventKind::ReloadFailed { .. } => "RELOAD_FAILED",
        }
    }

    fn created_at_nanos(&self) -> u64 {
        self.at
    }

    /// The name of the instance, empty where the event is about none.
    fn instance(&self) -> &str {
        match &self.kind {
            RegistryEventKind::EntryAdded { name, .. }
            | RegistryEventKind::EntryRemoved { name, .. } => name,
            RegistryEventKind::Reloaded { .. } | RegistryEventKind::ReloadFailed { .. } => "",
        }
    }

    fn comes_with_calls(&self) -> bool {
        false
    }
}

impl fmt::Display for RegistryEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Registry ")?;
        match &self.kind {
            RegistryEventKind::EntryAdded { pattern, name } => {
                write!(f, "added {pattern} '{name}'")
            }
            RegistryEventKind::EntryRemoved { pattern, name } => {
                write!(f, "removed {pattern} '{name}'")
            }
            RegistryEventKind::Reloaded { changes } => {
                write!(f, "reloaded its configuration; settings that changed: {changes}")
            }
            RegistryEventKind::ReloadFailed { error } => {
                write!(f, "refused a configuration and keeps its own: {}", one_line(error))
            }
        }
    }
}
