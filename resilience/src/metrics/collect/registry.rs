use std::time::UNIX_EPOCH;

use crate::{
    Resilience,
    metrics::family::{About, Families, Owner},
};

static RELOADS: About = About::counter(
    "resilience_config_reloads_total",
    &["kind"],
    "Reloads of the configuration by how they ended",
);
static LAST_SUCCESSFUL: About = About::gauge(
    "resilience_config_last_reload_successful",
    &[],
    "1 if the configuration that was to be loaded last is in force, else 0",
);
static LAST_RELOAD: About = About::gauge(
    "resilience_config_last_reload_timestamp_seconds",
    &[],
    "When a reload last put a configuration in force, 0 if none did",
);

pub(super) fn collect(registry: &Resilience, families: &mut Families) {
    let metrics = registry.metrics();
    let mut out = families.of(Owner::Registry);
    out.count(&RELOADS, &["successful"], metrics.reloads);
    out.count(&RELOADS, &["failed"], metrics.failed_reloads);
    let successful = f64::from(u8::from(metrics.config_last_reload_successful));
    out.level(&LAST_SUCCESSFUL, &[], successful);
    let last = metrics.last_reload.and_then(|at| at.duration_since(UNIX_EPOCH).ok());
    out.level(&LAST_RELOAD, &[], last.unwrap_or_default().as_secs_f64());
}
