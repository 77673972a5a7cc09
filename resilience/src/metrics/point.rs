//! Every number by itself, as all formats have them.

use std::sync::{Arc, LazyLock};

use super::family::{Family, Labels, Reading, Text};
use crate::timing::{BOUNDS, Timing};

/// What stands for the bound of what has none.
const WITHOUT_BOUND: &str = "+Inf";

/// The bounds of the buckets in seconds.
static BOUND_TEXTS: LazyLock<Vec<String>> =
    LazyLock::new(|| BOUNDS.iter().map(|bound| bound.as_secs_f64().to_string()).collect());

/// A number.
#[derive(Debug, Clone, Copy)]
pub(super) enum Value {
    /// It only grows.
    Count(u64),
    Level(f64),
}

impl Family {
    /// Shows every number: what it is called beyond the family's name, its labels and its value.
    pub(super) fn each(
        &self,
        application: &Arc<str>,
        mut show: impl FnMut(&'static str, &Labels<'_>, Value),
    ) {
        for sample in &self.samples {
            let mut labels = self.labels(application, sample);
            match &sample.reading {
                Reading::Count(n) => show("", &labels, Value::Count(*n)),
                Reading::Level(x) => show("", &labels, Value::Level(*x)),
                Reading::Lengths(timing) => {
                    for (bound, up_to) in cumulative(timing) {
                        labels.push(("le", Text::Fixed(bound)));
                        show("_bucket", &labels, Value::Count(up_to));
                        labels.pop();
                    }
                    show("_sum", &labels, Value::Level(timing.sum.as_secs_f64()));
                    show("_count", &labels, Value::Count(timing.count));
                }
            }
        }
    }
}

/// How many calls took up to each bound. Those that nobody has timed are within none.
fn cumulative(timing: &Timing) -> impl Iterator<Item = (&'static str, u64)> {
    let buckets = BOUND_TEXTS.iter().zip(timing.buckets).scan(0, |up_to, (bound, calls)| {
        *up_to += calls;
        Some((bound.as_str(), *up_to))
    });
    buckets.chain([(WITHOUT_BOUND, timing.count)])
}
