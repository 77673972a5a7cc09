use crate::{
    Resilience,
    metrics::family::{About, Families, Owner},
    store::StoreFailure,
};

static DEGRADED: About = About::gauge(
    "resilience_store_degraded",
    &[],
    "1 while the shared store does not decide and limits follow their on_store_failure, else 0",
);
static DECISIONS: About =
    About::counter("resilience_store_decisions_total", &[], "Decisions that the shared store made");
static FAILURES: About = About::counter(
    "resilience_store_failures_total",
    &["reason"],
    "Decisions that the shared store did not make, by the reason",
);

/// The value of the label `reason` of each failure.
static REASONS: [[&str; 1]; StoreFailure::ALL.len()] = {
    let mut reasons = [[""]; StoreFailure::ALL.len()];
    let mut at = 0;
    while at < reasons.len() {
        reasons[at] = [StoreFailure::ALL[at].as_str()];
        at += 1;
    }
    reasons
};

pub(super) fn collect(registry: &Resilience, families: &mut Families) {
    let Some(store) = registry.store() else { return };
    let metrics = store.metrics();
    let mut out = families.of(Owner::Registry);
    out.level(&DEGRADED, &[], f64::from(u8::from(metrics.degraded)));
    out.count(&DECISIONS, &[], metrics.decided);
    for (failure, reason) in StoreFailure::ALL.into_iter().zip(&REASONS) {
        out.count(&FAILURES, reason, metrics.failed(failure));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Config;

    const METRICS: [&str; 3] = [
        "resilience_store_degraded",
        "resilience_store_decisions_total",
        "resilience_store_failures_total",
    ];

    /// Nobody listens at the address.
    fn registry() -> Resilience {
        let settings = [
            ("redis.url", "redis://127.0.0.1:1"),
            ("redis.namespace", "shop"),
            ("redis.decision_timeout", "10s"),
            ("ratelimiter.instances.orders.scope", "global"),
            ("ratelimiter.instances.orders.on_store_failure", "open"),
            ("ratelimiter.instances.orders.limit_refresh_period", "1s"),
        ];
        let builder = Config::builder().env(false).application("shop");
        let set = |builder: crate::config::ConfigBuilder, (path, value)| builder.set(path, value);
        let config = settings.into_iter().fold(builder, set).load().unwrap();
        Resilience::from_config(config).unwrap()
    }

    #[test]
    fn a_scrape_tells_that_the_store_is_away_and_why() {
        let registry = registry();
        let told = |line: &str| registry.prometheus().lines().any(|told| told == line);
        let labels = r#"{application="shop"}"#;
        assert!(told(&format!("resilience_store_degraded{labels} 0")));
        registry.rate_limiter("orders").acquire_blocking(1).unwrap();
        assert!(told(&format!("resilience_store_degraded{labels} 1")));
        assert!(told(&format!("resilience_store_decisions_total{labels} 0")));
        let failures =
            r#"resilience_store_failures_total{application="shop",reason="connection"} 1"#;
        assert!(told(failures), "{}", registry.prometheus());
    }

    #[test]
    fn without_a_store_there_is_nothing_to_tell() {
        let registry = Resilience::from_config(Config::default()).unwrap();
        assert!(!registry.prometheus().contains("resilience_store"));
    }

    #[test]
    fn the_docs_and_the_board_have_what_is_told_and_no_more() {
        let docs = include_str!("../../../../docs/metrics.md");
        let board = include_str!("../../../../grafana/resilience.json");
        let scrape = registry().prometheus();
        for metric in METRICS {
            assert!(scrape.contains(&format!("# TYPE {metric} ")), "{metric}");
            assert!(docs.contains(&format!("| `{metric}` |")), "{metric}");
            assert!(board.contains(&format!("{metric}{{application=~")), "{metric}");
        }
        for text in [docs, board] {
            let named: Vec<_> = text.match_indices("resilience_store_").collect();
            let known = |at| METRICS.iter().any(|metric| text[at..].starts_with(metric));
            assert!(named.into_iter().all(|(at, _)| known(at)));
        }
    }

    #[test]
    fn every_reason_has_its_own_series() {
        let scrape = registry().prometheus();
        for failure in StoreFailure::ALL {
            assert!(scrape.contains(&format!("reason=\"{}\"", failure.as_str())), "{failure}");
        }
    }
}
