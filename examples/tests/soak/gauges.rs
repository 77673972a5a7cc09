//! What a process says of its protections.

use std::collections::HashMap;

use serde_json::Value;

const SLOTS: &str = "resilience4j_bulkhead_max_allowed_concurrent_calls";
const FREE: &str = "resilience4j_bulkhead_available_concurrent_calls";
const WAITING: &str = "resilience4j_ratelimiter_waiting_threads";
const STATE: &str = "resilience4j_circuitbreaker_state";

/// Every process has all that is declared: one of which nothing is told is no idle one.
const BULKHEADS: [&str; 5] = ["accountAccessBh", "inventoryBh", "ledgerBh", "mailBh", "webhooksBh"];
const LIMITERS: [&str; 2] = ["orderGlobalRl", "orderRl"];
/// But those that have a breaker for each key (`otherProviderCb`, `pgQueryCb`), of which the one without
/// a key sees no call: the others close by calls that nobody has to make in the calm.
const BREAKERS: [&str; 7] = [
    "accountAccess",
    "accountRead",
    "inventoryCb",
    "mailCb",
    "paymentCb",
    "paymentQueryCb",
    "paymentServiceCb",
];

/// The gauges of a process by what they measure and what of, from its page for Prometheus.
#[derive(Debug)]
pub(crate) struct Gauges<'a>(HashMap<(&'a str, &'a str), f64>);

impl<'a> Gauges<'a> {
    pub(crate) fn of(page: &'a str) -> Self {
        let series = page.lines().filter(|line| !line.starts_with('#'));
        Self(
            series
                .filter_map(|line| {
                    let (series, value) = line.rsplit_once(' ')?;
                    let (name, labels) = series.split_once('{')?;
                    Some(((name, labels.trim_end_matches('}')), value.parse().ok()?))
                })
                .collect(),
        )
    }

    /// Every slot that is taken and everybody who waits for a permission, although nothing is under
    /// way, and all of which that is not told.
    pub(crate) fn busy(&self) -> Vec<String> {
        let taken =
            self.all(SLOTS).filter(|(labels, most)| self.0.get(&(FREE, labels)) != Some(most));
        let waiting = self.all(WAITING).filter(|(_, count)| *count > 0.0);
        let found = taken.chain(waiting).map(|(labels, value)| format!("{labels}: {value}"));
        found.chain(self.untold(SLOTS, &BULKHEADS)).chain(self.untold(WAITING, &LIMITERS)).collect()
    }

    /// Every breaker that is not closed, and all of which that is not told.
    pub(crate) fn not_closed(&self) -> Vec<String> {
        let not_closed = self
            .all(STATE)
            .filter(|(labels, value)| *value > 0.0 && !labels.contains("state=\"closed\""))
            .map(|(labels, _)| labels.to_owned());
        not_closed.chain(self.untold(STATE, &BREAKERS)).collect()
    }

    /// The instances that this is not told of.
    fn untold(&self, metric: &str, names: &[&str]) -> impl Iterator<Item = String> {
        let is_told = |name: &str| {
            let label = format!("name=\"{name}\"");
            self.all(metric).any(|(labels, _)| labels.contains(&label))
        };
        names
            .iter()
            .filter(move |name| !is_told(name))
            .map(move |name| format!("{name} has no {metric}"))
    }

    fn all(&self, metric: &str) -> impl Iterator<Item = (&'a str, f64)> {
        let series = self.0.iter().filter(move |((name, _), _)| *name == metric);
        series.map(|((_, labels), value)| (*labels, *value))
    }
}

/// Every bulkhead that somebody waits for a slot of, which only the list of instances tells, and all of
/// which that is not told.
pub(crate) fn waited_for(instances: &Value) -> impl Iterator<Item = String> {
    let all = instances["bulkheads"].as_array().map(Vec::as_slice).unwrap_or_default();
    BULKHEADS.into_iter().filter_map(|name| {
        let bulkhead = all.iter().find(|bulkhead| bulkhead["name"] == name);
        let waiting = bulkhead.map_or(&Value::Null, |bulkhead| &bulkhead["waiting"]);
        (*waiting != 0).then(|| format!("for a slot of {name} wait {waiting}"))
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// A page of all that there must be, at rest.
    fn idle() -> String {
        let slots = BULKHEADS
            .map(|name| format!("{FREE}{{name=\"{name}\"}} 4\n{SLOTS}{{name=\"{name}\"}} 4\n"));
        let waiting = LIMITERS.map(|name| format!("{WAITING}{{name=\"{name}\"}} 0\n"));
        let states = BREAKERS.map(|name| {
            let state =
                |state, value| format!("{STATE}{{name=\"{name}\",state=\"{state}\"}} {value}\n");
            state("closed", 1) + &state("open", 0)
        });
        format!("# HELP x y\n{}{}{}", slots.concat(), waiting.concat(), states.concat())
    }

    #[test]
    fn nothing_is_busy_where_every_slot_is_free_and_nobody_waits() {
        let page = idle();
        let gauges = Gauges::of(&page);
        assert_eq!((gauges.busy(), gauges.not_closed()), (vec![], vec![]));
    }

    #[test]
    fn a_slot_that_is_taken_and_somebody_who_waits_are_found() {
        for (idle_line, busy_line) in [
            (
                "available_concurrent_calls{name=\"mailBh\"} 4",
                "available_concurrent_calls{name=\"mailBh\"} 3",
            ),
            ("{name=\"orderRl\"} 0", "{name=\"orderRl\"} 1"),
        ] {
            let page = idle().replace(idle_line, busy_line);
            assert_eq!(Gauges::of(&page).busy().len(), 1, "{page}");
        }
    }

    #[test]
    fn a_breaker_that_is_not_closed_is_found() {
        let page = idle().replace("mailCb\",state=\"open\"} 0", "mailCb\",state=\"open\"} 1");
        assert_eq!(Gauges::of(&page).not_closed(), ["name=\"mailCb\",state=\"open\""]);
    }

    #[test]
    fn what_is_not_told_is_not_taken_for_idle() {
        for metric in [SLOTS, FREE, WAITING, STATE] {
            let page = idle().replace(metric, "renamed");
            let gauges = Gauges::of(&page);
            assert!(!gauges.busy().is_empty() || !gauges.not_closed().is_empty(), "{metric}");
        }
        for name in BULKHEADS.iter().chain(&LIMITERS).chain(&BREAKERS) {
            let page = idle().replace(&format!("\"{name}\""), "\"renamed\"");
            let gauges = Gauges::of(&page);
            let untold: Vec<_> = gauges.busy().into_iter().chain(gauges.not_closed()).collect();
            assert!(untold.len() == 1 && untold[0].starts_with(name), "{untold:?}");
        }
    }

    #[test]
    fn who_waits_for_a_slot_is_found_and_so_is_a_bulkhead_of_which_nothing_is_told() {
        let all = |waiting: Value| {
            let bulkheads = BULKHEADS.map(|name| json!({ "name": name, "waiting": waiting }));
            waited_for(&json!({ "bulkheads": bulkheads })).count()
        };
        assert_eq!((all(json!(0)), all(json!(1)), all(Value::Null)), (0, 5, 5));
        assert_eq!(waited_for(&Value::Null).count(), 5);
    }
}
