use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// How reloads of a registry ended so far.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RegistryMetrics {
    /// Whether the configuration that was to be loaded last is in force. True before any reload: a
    /// registry starts with a configuration that was found good.
    pub config_last_reload_successful: bool,
    /// How many reloads put a configuration in force, also one without changes.
    pub reloads: u64,
    /// How many were refused, or could not read what they were to load; nothing was changed then.
    pub failed_reloads: u64,
    /// When a reload last put a configuration in force.
    pub last_reload: Option<SystemTime>,
}

impl Default for RegistryMetrics {
    fn default() -> Self {
        Self {
            config_last_reload_successful: true,
            reloads: 0,
            failed_reloads: 0,
            last_reload: None,
        }
    }
}

impl RegistryMetrics {
    pub(super) fn count(&mut self, successful: bool, now: u64) {
        self.config_last_reload_successful = successful;
        if successful {
            self.reloads += 1;
            self.last_reload = Some(UNIX_EPOCH + Duration::from_nanos(now));
        } else {
            self.failed_reloads += 1;
        }
    }
}
