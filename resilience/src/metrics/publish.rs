//! The same numbers for a recorder of the program's own.

use std::sync::Arc;

use ::metrics::{Key, KeyName, Label, Level, Metadata, Recorder, SharedString, with_recorder};

use super::{
    collect::collect,
    family::{Family, Kind, Labels, Text},
    point::Value,
};
use crate::Resilience;

static METADATA: Metadata<'static> = Metadata::new("resilience", Level::INFO, Some(module_path!()));

/// Hands the metrics of all instances, as they are now, to the recorder of the `metrics` crate.
///
/// Names and labels are those of [`metrics`](crate::metrics), the series of a histogram among them. What
/// only grows is set as a counter, all else is a gauge. Without a recorder nothing happens.
///
/// # Panics
///
/// With a panic of the recorder. The registry is as it was.
///
/// # Examples
///
/// ```
/// use resilience::{Config, Resilience, metrics};
///
/// let registry = Resilience::from_config(Config::default())?;
/// registry.retry("payment");
/// // Before, the program has installed its recorder.
/// metrics::publish(&registry);
/// # Ok::<(), resilience::ConfigError>(())
/// ```
pub fn publish(registry: &Resilience) {
    let application = registry.application();
    // Read before, so that a recorder's code runs while nothing here is held.
    let families: Vec<Family> = collect(registry).collect();
    with_recorder(|recorder| {
        for family in &families {
            hand_over(family, &application, recorder);
        }
    });
}

fn hand_over(family: &Family, application: &Arc<str>, recorder: &dyn Recorder) {
    let about = family.about;
    let name = KeyName::from_const_str(about.name);
    match about.kind {
        Kind::Counter => recorder.describe_counter(name, None, about.help.into()),
        Kind::Gauge => recorder.describe_gauge(name, None, about.help.into()),
        // The recorder sees a histogram's series only.
        Kind::Histogram => {}
    }
    let mut names = Names::of(about.name);
    family.each(application, |suffix, labels, value| {
        let key = Key::from_parts(names.with(suffix), labels_of(labels));
        match value {
            Value::Count(n) => recorder.register_counter(&key, &METADATA).absolute(n),
            Value::Level(x) => recorder.register_gauge(&key, &METADATA).set(x),
        }
    });
}

/// The names of a family's series, each made once.
struct Names {
    family: &'static str,
    suffixed: Vec<(&'static str, SharedString)>,
}

impl Names {
    fn of(family: &'static str) -> Self {
        Self { family, suffixed: vec![("", SharedString::const_str(family))] }
    }

    fn with(&mut self, suffix: &'static str) -> SharedString {
        if let Some((_, name)) = self.suffixed.iter().find(|(known, _)| *known == suffix) {
            return name.clone();
        }
        let name = SharedString::from_shared(format!("{}{suffix}", self.family).into());
        self.suffixed.push((suffix, name.clone()));
        name
    }
}

fn labels_of(labels: &Labels<'_>) -> Vec<Label> {
    let label = |(name, value): &(&'static str, Text<'_>)| match value {
        Text::Shared(text) => Label::new(*name, SharedString::from_shared(Arc::clone(text))),
        Text::Fixed(text) => Label::from_static_parts(name, text),
    };
    labels.iter().map(label).collect()
}
