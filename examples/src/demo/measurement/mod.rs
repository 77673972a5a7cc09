//! What the report is made of: numbers, each with the samples that it was computed from.

mod count;
mod facts;
mod latencies;
mod number;
mod sample;
mod tally;
mod time;

use std::fmt;

use serde::Serialize;

pub(super) use self::{
    count::Count,
    facts::Facts,
    latencies::{Latencies, whole_micros},
    number::Number,
    sample::{Sample, sample},
    tally::Tally,
    time::{Time, ms},
};

/// A number, or a few that belong together.
///
/// A kind is made from samples and from nothing else, its text from what it computed: no number gets
/// into the report that others could not compute again.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(super) enum Measurement {
    Count(Count),
    Facts(Facts),
    Latencies(Latencies),
    Number(Number),
    Tally(Tally),
    Time(Time),
}

impl fmt::Display for Measurement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Count(count) => count.fmt(f),
            Self::Facts(facts) => facts.fmt(f),
            Self::Latencies(latencies) => latencies.fmt(f),
            Self::Number(number) => number.fmt(f),
            Self::Tally(tally) => tally.fmt(f),
            Self::Time(time) => time.fmt(f),
        }
    }
}

macro_rules! from_kinds {
    ($($kind:ident),*) => {$(
        impl From<$kind> for Measurement {
            fn from(measured: $kind) -> Self {
                Self::$kind(measured)
            }
        }
    )*};
}

from_kinds!(Count, Facts, Latencies, Number, Tally, Time);
