//! What a process says of its protections.

use std::collections::HashMap;

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

    /// Every slot that is taken and everybody who waits, although nothing is under way.
    pub(crate) fn busy(&self) -> Vec<String> {
        let taken = self.all("resilience4j_bulkhead_max_allowed_concurrent_calls").filter(
            |(labels, most)| {
                self.0.get(&("resilience4j_bulkhead_available_concurrent_calls", labels))
                    != Some(most)
            },
        );
        let waiting =
            self.all("resilience4j_ratelimiter_waiting_threads").filter(|(_, count)| *count > 0.0);
        taken.chain(waiting).map(|(labels, value)| format!("{labels}: {value}")).collect()
    }

    /// Every breaker that is not closed.
    pub(crate) fn not_closed(&self) -> Vec<String> {
        self.all("resilience4j_circuitbreaker_state")
            .filter(|(labels, value)| *value > 0.0 && !labels.contains("state=\"closed\""))
            .map(|(labels, _)| labels.to_owned())
            .collect()
    }

    /// How many series there are.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    fn all(&self, metric: &str) -> impl Iterator<Item = (&'a str, f64)> {
        let series = self.0.iter().filter(move |((name, _), _)| *name == metric);
        series.map(|((_, labels), value)| (*labels, *value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const IDLE: &str = "# HELP x y
resilience4j_bulkhead_available_concurrent_calls{name=\"a\"} 4
resilience4j_bulkhead_max_allowed_concurrent_calls{name=\"a\"} 4
resilience4j_circuitbreaker_state{name=\"b\",state=\"closed\"} 1
resilience4j_circuitbreaker_state{name=\"b\",state=\"open\"} 0
resilience4j_ratelimiter_waiting_threads{name=\"c\"} 0";

    #[test]
    fn nothing_is_busy_where_every_slot_is_free_and_nobody_waits() {
        let gauges = Gauges::of(IDLE);
        assert_eq!((gauges.busy(), gauges.not_closed()), (vec![], vec![]));
        assert_eq!(gauges.len(), 5);
    }

    #[test]
    fn a_slot_that_is_taken_and_somebody_who_waits_are_found() {
        for (idle, busy) in [
            (
                "available_concurrent_calls{name=\"a\"} 4",
                "available_concurrent_calls{name=\"a\"} 3",
            ),
            ("{name=\"c\"} 0", "{name=\"c\"} 1"),
        ] {
            let page = IDLE.replace(idle, busy);
            assert_eq!(Gauges::of(&page).busy().len(), 1, "{page}");
        }
    }

    #[test]
    fn a_breaker_that_is_not_closed_is_found() {
        let page = IDLE.replace("open\"} 0", "open\"} 1");
        assert_eq!(Gauges::of(&page).not_closed(), ["name=\"b\",state=\"open\""]);
    }
}
