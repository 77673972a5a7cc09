use super::{Detail, Indicator, Status};
use crate::{
    RateLimiter,
    rate_limiter::{RateLimiterConfig, RateLimiterMetrics},
};

/// How a limiter is, if it is registered.
pub(super) fn indicator(limiter: &RateLimiter) -> Option<Indicator> {
    let config = limiter.config();
    config.register_health_indicator().then(|| {
        let metrics = limiter.metrics();
        Indicator {
            name: limiter.name().to_owned(),
            status: status(&metrics, &config),
            details: vec![
                ("availablePermissions", Detail::Number(metrics.available_permissions)),
                ("numberOfWaitingThreads", Detail::count(metrics.waiting)),
            ],
        }
    })
}

fn status(metrics: &RateLimiterMetrics, config: &RateLimiterConfig) -> Status {
    if metrics.available_permissions > 0 || metrics.waiting == 0 {
        Status::Up
    } else if metrics.time_to_wait <= config.timeout_duration() {
        Status::Unknown
    } else if config.allow_health_indicator_to_fail() {
        Status::Down
    } else {
        Status::RateLimited
    }
}

#[cfg(test)]
mod tests {
    use std::{pin::pin, time::Duration};

    use super::*;
    use crate::{Clock, test_support::poll};

    const SECOND: Duration = Duration::from_secs(1);

    fn limiter(may_fail: bool) -> RateLimiter {
        let config = RateLimiterConfig::builder()
            .limit_for_period(1)
            .limit_refresh_period(SECOND)
            .timeout_duration(SECOND)
            .register_health_indicator(true)
            .allow_health_indicator_to_fail(may_fail)
            .build();
        RateLimiter::with_clock("search", config.unwrap(), Clock::manual(SECOND).0)
    }

    fn status_of(limiter: &RateLimiter) -> Status {
        indicator(limiter).unwrap().status
    }

    #[test]
    fn a_limiter_that_nobody_waits_for_is_up_also_without_permissions() {
        let limiter = limiter(true);
        assert_eq!(status_of(&limiter), Status::Up);
        limiter.try_acquire(1).unwrap();
        assert_eq!(status_of(&limiter), Status::Up);
    }

    #[test]
    fn a_limiter_whose_next_turn_comes_too_late_is_limited_or_down_where_it_may_be() {
        for (may_fail, expected) in [(false, Status::RateLimited), (true, Status::Down)] {
            let limiter = limiter(may_fail);
            limiter.try_acquire(1).unwrap();
            let mut waiting = pin!(limiter.acquire(1));
            assert!(poll(waiting.as_mut()).is_pending());
            assert_eq!(status_of(&limiter), expected);
        }
    }

    #[test]
    fn a_limiter_with_a_turn_in_time_behind_those_that_wait_is_unknown() {
        let limiter = limiter(true);
        limiter.change_timeout_duration(3 * SECOND).unwrap();
        limiter.try_acquire(1).unwrap();
        let mut waiting = pin!(limiter.acquire(1));
        assert!(poll(waiting.as_mut()).is_pending());
        assert_eq!(status_of(&limiter), Status::Unknown);
    }
}
