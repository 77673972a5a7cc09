//! Families of metrics and what they hold, whoever they are for.

use std::{collections::BTreeMap, sync::Arc};

use crate::timing::Timing;

/// What a family is.
#[derive(Debug)]
pub(super) struct About {
    pub(super) name: &'static str,
    /// One sentence without an end.
    pub(super) help: &'static str,
    pub(super) kind: Kind,
    /// The labels that it has beside the application's and, of an instance, its name and key.
    labels: &'static [&'static str],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Counter,
    Gauge,
    Histogram,
}

impl About {
    pub(super) const fn counter(
        name: &'static str,
        labels: &'static [&'static str],
        help: &'static str,
    ) -> Self {
        Self { name, help, kind: Kind::Counter, labels }
    }

    pub(super) const fn gauge(
        name: &'static str,
        labels: &'static [&'static str],
        help: &'static str,
    ) -> Self {
        Self { name, help, kind: Kind::Gauge, labels }
    }

    pub(super) const fn histogram(
        name: &'static str,
        labels: &'static [&'static str],
        help: &'static str,
    ) -> Self {
        Self { name, help, kind: Kind::Histogram, labels }
    }
}

/// Whose numbers they are: the registry's, or those of an instance and perhaps of a key.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Owner {
    Registry,
    Instance { name: Arc<str>, key: Arc<str> },
}

impl Owner {
    /// An instance, with all of its keys that have no numbers of their own.
    pub(super) fn named(name: &str) -> Self {
        Self::Instance { name: name.into(), key: Arc::default() }
    }
}

/// One number, or the numbers of one histogram.
#[derive(Debug)]
pub(super) enum Reading {
    Count(u64),
    Level(f64),
    Lengths(Box<Timing>),
}

#[derive(Debug)]
pub(super) struct Sample {
    pub(super) owner: Owner,
    /// The values of the family's own labels.
    pub(super) own: &'static [&'static str],
    pub(super) reading: Reading,
}

/// The value of a label.
#[derive(Debug, Clone, Copy)]
pub(super) enum Text<'a> {
    Shared(&'a Arc<str>),
    Fixed(&'static str),
}

impl Text<'_> {
    pub(super) fn as_str(&self) -> &str {
        match self {
            Text::Shared(text) => text,
            Text::Fixed(text) => text,
        }
    }
}

pub(super) type Labels<'a> = Vec<(&'static str, Text<'a>)>;

#[derive(Debug)]
pub(super) struct Family {
    pub(super) about: &'static About,
    pub(super) samples: Vec<Sample>,
}

impl Family {
    /// The labels of a sample: in a family they are always the same ones, in the same order.
    pub(super) fn labels<'a>(&self, application: &'a Arc<str>, sample: &'a Sample) -> Labels<'a> {
        let mut labels = vec![("application", Text::Shared(application))];
        if let Owner::Instance { name, key } = &sample.owner {
            labels.extend([("name", Text::Shared(name)), ("key", Text::Shared(key))]);
        }
        let own = self.about.labels.iter().zip(sample.own);
        labels.extend(own.map(|(label, value)| (*label, Text::Fixed(value))));
        labels
    }
}

/// All families of a registry at one moment.
#[derive(Debug, Default)]
pub(super) struct Families(BTreeMap<&'static str, Family>);

impl Families {
    /// Takes down what belongs to `owner`.
    pub(super) fn of(&mut self, owner: Owner) -> Writer<'_> {
        Writer { families: self, owner }
    }

    /// In the order of their names, their samples in the order of their labels.
    pub(super) fn sorted(self) -> impl Iterator<Item = Family> {
        self.0.into_values().map(|mut family| {
            family.samples.sort_by(|a, b| (&a.owner, a.own).cmp(&(&b.owner, b.own)));
            family
        })
    }
}

/// Takes down the numbers of one owner.
pub(super) struct Writer<'a> {
    families: &'a mut Families,
    owner: Owner,
}

impl Writer<'_> {
    pub(super) fn count(&mut self, about: &'static About, own: &'static [&'static str], n: u64) {
        self.add(about, own, Reading::Count(n));
    }

    pub(super) fn level(&mut self, about: &'static About, own: &'static [&'static str], x: f64) {
        self.add(about, own, Reading::Level(x));
    }

    pub(super) fn lengths(
        &mut self,
        about: &'static About,
        own: &'static [&'static str],
        timing: Timing,
    ) {
        self.add(about, own, Reading::Lengths(Box::new(timing)));
    }

    fn add(&mut self, about: &'static About, own: &'static [&'static str], reading: Reading) {
        debug_assert_eq!(about.labels.len(), own.len(), "{}", about.name);
        let family = self.families.0.entry(about.name);
        let family = family.or_insert_with(|| Family { about, samples: Vec::new() });
        family.samples.push(Sample { owner: self.owner.clone(), own, reading });
    }
}

/// A number of things as a gauge.
#[allow(clippy::cast_precision_loss)] // 2^53 of them are more than there are of anything
pub(super) fn number(n: u64) -> f64 {
    n as f64
}
