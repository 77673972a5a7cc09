use super::{Detail, Indicator, Status};
use crate::Resilience;

/// How the store is that instances share something by.
pub(super) fn indicator(registry: &Resilience) -> Option<Indicator> {
    let store = registry.store()?;
    let metrics = store.metrics();
    Some(Indicator {
        name: store.config().namespace().to_owned(),
        status: if metrics.degraded { Status::Unknown } else { Status::Up },
        details: vec![
            ("decisions", Detail::count(metrics.decided)),
            ("failures", Detail::count(metrics.all_failed())),
        ],
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Config;

    #[test]
    fn a_store_that_is_away_is_told_and_turns_nothing_down() {
        let limiter = "ratelimiter.instances.orders";
        let config = Config::builder()
            .env(false)
            .set("redis.url", "redis://127.0.0.1:1")
            .set("redis.namespace", "shop")
            .set(format!("{limiter}.scope"), "global")
            .set(format!("{limiter}.on_store_failure"), "closed")
            .set(format!("{limiter}.limit_refresh_period"), "1s");
        let registry = Resilience::from_config(config.load().unwrap()).unwrap();
        let store = || registry.health().store.unwrap();
        assert_eq!((store().name.as_str(), store().status), ("shop", Status::Up));
        assert!(registry.rate_limiter("orders").acquire_blocking(1).is_err());
        assert_eq!(store().status, Status::Unknown);
        assert_eq!(
            store().details,
            [("decisions", Detail::Number(0)), ("failures", Detail::Number(1))]
        );
        assert_eq!(registry.health().status, Status::Up);
    }
}
