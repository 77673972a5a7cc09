/// What an instance tells of its keys; everything is 0 where none was used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct KeyedMetrics {
    /// Keys that have an instance of their own now; at most `max_keys`.
    ///
    /// More for a while where a reload lowered `max_keys`: they go as they fall idle.
    pub live: u64,
    /// Instances made for a key so far.
    pub created: u64,
    /// Instances that went because nobody used them.
    pub evicted: u64,
    /// Look-ups that got the shared instance because there were `max_keys` others.
    pub overflowed: u64,
}
