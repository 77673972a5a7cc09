//! The description of what happens.

use std::{path::Path, time::Duration};

use fastrand::Rng;
use resilience_settings::parse_duration;

use super::{
    phases::{Phases, nanos},
    reader::Map,
};
use crate::config::{Node, Problem, one_line, yaml_tree};

/// The longest simulated time: a line is written for each second.
const LONGEST: Duration = Duration::from_hours(1);

/// The most calls of one run: each of them may be under way at the same time.
const MOST_CALLS: f64 = 200_000.0;

const MOST_PHASES: usize = 1_000;

/// What happens, and to which stack.
#[derive(Debug)]
pub(super) struct Scenario {
    pub(super) stack: StackNames,
    pub(super) duration: Duration,
    pub(super) seed: u64,
    /// Calls a second.
    pub(super) rate: Phases<f64>,
    /// By what part of it the time between two calls is spread, up and down.
    pub(super) jitter: f64,
    pub(super) backend: Phases<Answer>,
}

/// The instances around a call.
#[derive(Debug)]
pub(super) enum StackNames {
    /// Those of this name, of whichever pattern declares one.
    All(String),
    Each(Names),
}

/// An instance's name for each pattern that is part of the stack.
#[derive(Debug, Clone, Default)]
pub(super) struct Names {
    pub(super) retry: Option<String>,
    pub(super) circuit_breaker: Option<String>,
    pub(super) rate_limiter: Option<String>,
    pub(super) time_limiter: Option<String>,
    pub(super) bulkhead: Option<String>,
}

/// How the backend answers.
#[derive(Debug)]
pub(super) struct Answer {
    /// The shortest and longest time that it takes.
    latency: (Duration, Duration),
    /// In percent.
    error_rate: f64,
    /// The kinds of its errors.
    kinds: &'static [&'static str],
}

impl Answer {
    /// How long one call takes.
    pub(super) fn latency(&self, rng: &mut Rng) -> Duration {
        let (least, most) = self.latency;
        least + Duration::from_nanos(rng.u64(0..=nanos(most.saturating_sub(least))))
    }

    /// What one call comes to.
    ///
    /// # Errors
    ///
    /// The kinds of the error, as often as the error rate has it.
    pub(super) fn outcome(&self, rng: &mut Rng) -> Result<(), &'static [&'static str]> {
        if rng.f64() * 100.0 < self.error_rate { Err(self.kinds) } else { Ok(()) }
    }
}

impl Scenario {
    /// Reads a file.
    ///
    /// # Errors
    ///
    /// The first thing that is wrong, with file, line and key.
    pub(super) fn read(path: &Path) -> Result<Self, Problem> {
        let tree = yaml_tree(path)?;
        Self::of(&one_line(&path.display().to_string()), &tree)
    }

    fn of(file: &str, tree: &Node) -> Result<Self, Problem> {
        let keys = ["stack", "duration", "seed", "rate", "arrivals", "jitter", "backend"];
        let map = Map::of(file, String::new(), Some(1), tree, &keys)?;
        let missing = |key: &str, example: &str| {
            map.problem(Some(1), format!("`{key}` is missing; write it as `{key}: {example}`"))
        };
        let scenario = Self {
            stack: stack(file, &map)?.ok_or_else(|| missing("stack", "<instance>"))?,
            duration: map
                .duration("duration", LONGEST)?
                .ok_or_else(|| missing("duration", "1m"))?,
            seed: map.number("seed", (0, u64::MAX))?.unwrap_or(0),
            rate: rate(&map)?.ok_or_else(|| missing("rate", "10"))?,
            jitter: map.number("jitter", (0.0, 1.0))?.unwrap_or(0.0),
            backend: backend(&map)?
                .ok_or_else(|| missing("backend", "[{ latency: 50ms, error_rate: 0 }]"))?,
        };
        let calls = scenario.calls();
        if calls > MOST_CALLS {
            let message =
                format!("about {calls:.0} calls come in this time; at most {MOST_CALLS} may");
            return Err(map.problem_at("duration", message));
        }
        Ok(scenario)
    }

    /// How many calls come, about.
    pub(super) fn calls(&self) -> f64 {
        let end = nanos(self.duration);
        let spans = self.rate.spans().map(|(from, to, rate)| {
            let time = Duration::from_nanos(to.min(end).saturating_sub(from));
            time.as_secs_f64() * rate
        });
        spans.sum()
    }
}

fn stack(file: &str, map: &Map<'_>) -> Result<Option<StackNames>, Problem> {
    let Some(member) = map.get("stack") else { return Ok(None) };
    if let Node::Scalar(name) = &member.value {
        return Ok(Some(StackNames::All(name.to_string())));
    }
    let keys = ["retry", "circuit_breaker", "rate_limiter", "time_limiter", "bulkhead"];
    let names = Map::of(file, "stack".to_owned(), member.line, &member.value, &keys)?;
    let name = |key| Ok(names.text(key)?.map(ToString::to_string));
    Ok(Some(StackNames::Each(Names {
        retry: name("retry")?,
        circuit_breaker: name("circuit_breaker")?,
        rate_limiter: name("rate_limiter")?,
        time_limiter: name("time_limiter")?,
        bulkhead: name("bulkhead")?,
    })))
}

const RATES: (f64, f64) = (0.0, 100_000.0);

fn rate(map: &Map<'_>) -> Result<Option<Phases<f64>>, Problem> {
    if let Some(rate) = map.number("rate", RATES)? {
        if map.get("arrivals").is_some() {
            return Err(map.problem_at("arrivals", "keep one of `rate` and `arrivals`"));
        }
        return Ok(Some(Phases::always(rate)));
    }
    phases(map, "arrivals", &["for", "rate"], |phase| {
        phase
            .number("rate", RATES)?
            .ok_or_else(|| phase.problem_at("rate", "is missing: how many calls a second"))
    })
}

fn backend(map: &Map<'_>) -> Result<Option<Phases<Answer>>, Problem> {
    phases(map, "backend", &["for", "latency", "error_rate", "error_kind"], |phase| {
        let kind = phase.text("error_kind")?;
        Ok(Answer {
            latency: phase
                .read("latency", "a duration or two, `20ms` or `20ms..80ms`", latency)?
                .unwrap_or_default(),
            error_rate: phase.number("error_rate", (0.0, 100.0))?.unwrap_or(0.0),
            // Kinds live as long as the program; there are no more of them than phases.
            kinds: match kind {
                Some(kind) => Box::leak(Box::new([&*String::from(&**kind).leak()])),
                None => &[],
            },
        })
    })
}

fn latency(text: &str) -> Option<(Duration, Duration)> {
    let (least, most) = text.split_once("..").unwrap_or((text, text));
    let (least, most) = (parse_duration(least).ok()?, parse_duration(most).ok()?);
    (least <= most && most <= LONGEST).then_some((least, most))
}

/// A list of phases. All but the last one say how long they are.
fn phases<T>(
    map: &Map<'_>,
    key: &str,
    keys: &[&str],
    read: impl Fn(&Map<'_>) -> Result<T, Problem>,
) -> Result<Option<Phases<T>>, Problem> {
    let Some(maps) = map.maps(key, keys)? else { return Ok(None) };
    if maps.len() > MOST_PHASES {
        return Err(map.problem_at(key, format!("has more than {MOST_PHASES} phases")));
    }
    let last = maps.len().saturating_sub(1);
    let mut phases = Vec::with_capacity(maps.len());
    for (at, phase) in maps.iter().enumerate() {
        let time = phase.duration("for", LONGEST)?;
        if time.is_none() && at < last {
            return Err(phase.problem_at("for", "is missing: only the last phase may be without"));
        }
        phases.push((time, read(phase)?));
    }
    let empty = || map.problem_at(key, "expected at least one phase");
    Phases::new(phases).map(Some).ok_or_else(empty)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Scenario, String> {
        let file = tempfile_of(text);
        let read = Scenario::read(&file).map_err(|problem| problem.to_string());
        std::fs::remove_file(&file).unwrap();
        read.map_err(|text| text.replace(&file.display().to_string(), "s.yaml"))
    }

    fn tempfile_of(text: &str) -> std::path::PathBuf {
        use std::sync::atomic::{AtomicU32, Ordering};
        static FILES: AtomicU32 = AtomicU32::new(0);
        let n = FILES.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("scenario-{}-{n}.yaml", std::process::id()));
        std::fs::write(&path, text).unwrap();
        path
    }

    const WHOLE: &str = "
stack: { circuit_breaker: pay }
duration: 1m
rate: 10
backend:
  - { for: 10s, latency: 20ms }
  - { latency: 20ms..80ms, error_rate: 50, error_kind: io }
";

    #[test]
    fn a_scenario_is_read_as_it_is_written() {
        let scenario = read(WHOLE).unwrap();
        assert!((scenario.calls() - 600.0).abs() < 1e-9);
        let mut rng = Rng::with_seed(1);
        let answer = scenario.backend.at(nanos(Duration::from_secs(10)));
        let latencies: Vec<_> = (0..100).map(|_| answer.latency(&mut rng).as_millis()).collect();
        assert!(latencies.iter().all(|ms| (20..=80).contains(ms)), "{latencies:?}");
        let failed = (0..1_000).filter(|_| answer.outcome(&mut rng).is_err()).count();
        assert!((400..600).contains(&failed), "{failed}");
    }

    #[test]
    fn what_is_wrong_is_told_with_its_place() {
        for (from, to, wanted) in [
            (
                "duration: 1m",
                "duration: 2h",
                "s.yaml:3: duration = 2h: expected a duration above 0 and up to 1h",
            ),
            ("duration: 1m", "", "s.yaml:1: `duration` is missing; write it as `duration: 1m`"),
            ("rate: 10", "rate: x", "s.yaml:4: rate = x: expected a number from 0 to 100000"),
            ("rate: 10", "rate: NaN", "s.yaml:4: rate = NaN: expected a number from 0 to 100000"),
            (
                "rate: 10",
                "rate: 9000",
                "s.yaml:3: duration: about 540000 calls come in this time; at most 200000 may",
            ),
            ("rate: 10", "rat: 10", "s.yaml:4: unknown key `rat`; did you mean `rate`?"),
            (
                "error_rate: 50",
                "eror_rate: 50",
                "s.yaml:7: backend[1]: unknown key `eror_rate`; did you mean `error_rate`?",
            ),
            (
                "20ms..80ms",
                "80ms..20ms",
                "s.yaml:7: backend[1].latency = 80ms..20ms: expected a duration or two, `20ms` or `20ms..80ms`",
            ),
            (
                "for: 10s, ",
                "",
                "s.yaml:6: backend[0].for: is missing: only the last phase may be without",
            ),
            (
                "circuit_breaker: pay",
                "breaker: pay",
                "s.yaml:2: stack: unknown key `breaker`; known are retry, circuit_breaker, rate_limiter, time_limiter, bulkhead",
            ),
        ] {
            assert_eq!(read(&WHOLE.replace(from, to)).unwrap_err(), wanted);
        }
    }
}
