use std::time::Duration;

/// What holds one after the other, each for its time, and the last one to the end.
#[derive(Debug)]
pub(super) struct Phases<T> {
    /// With the end of each in nanoseconds.
    list: Vec<(u64, T)>,
}

impl<T> Phases<T> {
    /// What holds all the time.
    pub(super) fn always(value: T) -> Self {
        Self { list: vec![(u64::MAX, value)] }
    }

    /// Without a time, one lasts to the end. There has to be one.
    pub(super) fn new(phases: Vec<(Option<Duration>, T)>) -> Option<Self> {
        let mut end: u64 = 0;
        let list: Vec<(u64, T)> = phases
            .into_iter()
            .map(|(time, value)| {
                end = time.map_or(u64::MAX, |time| end.saturating_add(nanos(time)));
                (end, value)
            })
            .collect();
        (!list.is_empty()).then_some(Self { list })
    }

    /// What holds at a time. After the end of all it is the last one.
    pub(super) fn at(&self, now: u64) -> &T {
        let after = self.list.partition_point(|(end, _)| *end <= now);
        &self.list[after.min(self.list.len() - 1)].1
    }

    /// Every phase with its beginning and end.
    pub(super) fn spans(&self) -> impl Iterator<Item = (u64, u64, &T)> {
        let starts = [0].into_iter().chain(self.list.iter().map(|(end, _)| *end));
        starts.zip(&self.list).map(|(start, (end, value))| (start, *end, value))
    }
}

pub(super) fn nanos(time: Duration) -> u64 {
    crate::clock::saturating_nanos(time)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_phase_ends_where_the_next_one_begins_and_the_last_one_never() {
        let second = Some(Duration::from_secs(1));
        let phases = Phases::new(vec![(second, 'a'), (second, 'b'), (None, 'c')]).unwrap();
        let times = [0, 999_999_999, 1_000_000_000, 1_999_999_999, 2_000_000_000, u64::MAX];
        assert_eq!(times.map(|now| *phases.at(now)), ['a', 'a', 'b', 'b', 'c', 'c']);
    }
}
