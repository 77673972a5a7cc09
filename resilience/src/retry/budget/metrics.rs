/// What a [`RetryBudget`](super::RetryBudget) looks like at a moment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RetryBudgetMetrics {
    /// Calls of the last ten seconds, each counted when its first attempt started.
    pub calls: u64,
    /// Retries that were granted in the last ten seconds.
    pub retries: u64,
    /// Retries that were refused since the budget was made; only grows.
    pub refused: u64,
    /// How many retries would be granted now.
    pub available: u64,
}
