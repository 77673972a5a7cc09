use super::config::{Algorithm, RateLimiterConfig, Refill};
use crate::{clock::saturating_nanos, scope::Scope};

/// What an engine in this process counts by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Quota {
    pub(super) limit: u32,
    /// Nanoseconds.
    pub(super) period: u64,
    pub(super) refill: Refill,
}

impl Quota {
    /// The limit of a process, or its share of one that `nodes` processes have together.
    pub(super) fn of(config: &RateLimiterConfig, nodes: u32) -> Self {
        let period = saturating_nanos(config.limit_refresh_period());
        let limit = config.limit_for_period();
        if config.scope() == Scope::Local {
            return Self { limit, period, refill: config.refill() };
        }
        let limit = share_of(limit, nodes);
        let refill = match config.algorithm() {
            Algorithm::FixedWindow => Refill::Interval,
            Algorithm::Gcra => Refill::Greedy,
        };
        Self { limit, period, refill }
    }
}

/// What each of `nodes` processes may admit of a limit that they have together.
///
/// Rounded down: the shares together do not exceed the limit, but where it has no whole one for
/// everybody.
pub(crate) fn share_of(limit: u32, nodes: u32) -> u32 {
    (limit / nodes.max(1)).max(1)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{super::config::OnStoreFailure, *};

    #[test]
    fn the_shares_of_a_global_limit_do_not_exceed_it() {
        let config = |scope| {
            RateLimiterConfig::builder()
                .limit_for_period(10)
                .limit_refresh_period(Duration::from_secs(1))
                .scope(scope)
                .on_store_failure(OnStoreFailure::Local)
                .build()
                .unwrap()
        };
        let shares = [1, 3, 10, 11].map(|nodes| Quota::of(&config(Scope::Global), nodes).limit);
        assert_eq!(shares, [10, 3, 1, 1]);
        assert_eq!(Quota::of(&config(Scope::Local), 3).limit, 10);
    }
}
