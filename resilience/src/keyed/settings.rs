use std::{sync::Arc, time::Duration};

use crate::config::Settings;

/// The settings of a name about its keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct KeySettings {
    pub(crate) max_keys: u32,
    pub(crate) key_idle_timeout: Duration,
    pub(crate) metric_keys: Arc<[String]>,
}

impl KeySettings {
    pub(crate) fn from_settings(settings: &Settings) -> Self {
        Self {
            max_keys: settings.u32("max_keys"),
            key_idle_timeout: settings.duration("key_idle_timeout"),
            metric_keys: Arc::clone(settings.texts("metric_keys")),
        }
    }
}
