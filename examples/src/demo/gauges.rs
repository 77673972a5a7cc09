use super::{
    measurement::{Sample, sample},
    stage::Stage,
};
use crate::database::Connections;

const AVAILABLE: &str = "resilience4j_bulkhead_available_concurrent_calls";
const SLOTS: &str = "resilience4j_bulkhead_max_allowed_concurrent_calls";
const WAITING: &str = "resilience4j_ratelimiter_waiting_threads";

/// How much of something somebody has now: 0 when nothing is under way.
#[derive(Debug)]
pub(super) struct Gauge {
    pub(super) name: String,
    pub(super) taken: u64,
}

impl Gauge {
    fn new(what: &str, of: &str, taken: u64) -> Self {
        Self { name: format!("{what} {of}"), taken }
    }

    pub(super) fn sample(&self) -> Sample {
        sample! {"gauge": self.name.as_str(), "taken": self.taken}
    }
}

impl Stage {
    /// All of them, of every service: those of the library's own text, who waits for a slot, and the
    /// connections to the databases.
    pub(super) fn gauges(&self) -> Vec<Gauge> {
        let mut gauges = in_text(&self.registry.prometheus());
        for bulkhead in self.registry.bulkheads() {
            gauges.push(Gauge::new("waiting for", bulkhead.name(), bulkhead.waiting()));
        }
        let system = &self.system;
        let services = [
            ("order", &system.order),
            ("inventory", &system.inventory),
            ("payment", &system.payment),
        ];
        for (name, service) in services {
            let in_use = service.connections().map_or(0, Connections::in_use);
            gauges.push(Gauge::new("connections of", name, in_use as u64));
        }
        gauges
    }

    /// What this one says now.
    pub(super) fn gauge(&self, name: &str) -> u64 {
        let gauges = self.gauges();
        gauges.iter().find(|gauge| gauge.name == name).map_or(0, |gauge| gauge.taken)
    }
}

fn in_text(text: &str) -> Vec<Gauge> {
    let free: Vec<_> = series(text, AVAILABLE).collect();
    let slots = series(text, SLOTS).map(|(name, slots)| {
        let free = free.iter().find(|(of, _)| *of == name).map_or(0, |(_, free)| *free);
        Gauge::new("slots of", name, slots.saturating_sub(free))
    });
    let waiting = series(text, WAITING).map(|(name, calls)| Gauge::new("waiting for", name, calls));
    slots.chain(waiting).collect()
}

/// The values of a family by the names of the instances.
fn series<'a>(text: &'a str, family: &str) -> impl Iterator<Item = (&'a str, u64)> {
    text.lines().filter_map(move |line| {
        let (labels, value) = line.strip_prefix(family)?.strip_prefix('{')?.split_once("} ")?;
        let (_, name) = labels.split_once("name=\"")?;
        Some((name.split('"').next()?, value.parse().ok()?))
    })
}

#[cfg(test)]
mod tests {
    use resilience::{Config, Resilience, config::Format};

    use super::*;

    #[test]
    fn a_slot_that_is_taken_shows_until_it_is_given_back() {
        let config = Config::from_str("bulkhead: {instances: {b: {}, c: {}}}", Format::Yaml);
        let registry = Resilience::from_config(config.unwrap()).unwrap();
        let taken = || {
            let gauges = in_text(&registry.prometheus());
            gauges.into_iter().map(|gauge| (gauge.name, gauge.taken)).collect::<Vec<_>>()
        };
        let [b, c] = ["slots of b", "slots of c"].map(str::to_owned);
        let permit = registry.bulkhead("b").try_acquire().unwrap();
        assert_eq!(taken(), [(b.clone(), 1), (c.clone(), 0)]);
        drop(permit);
        assert_eq!(taken(), [(b, 0), (c, 0)]);
    }
}
