//! A global limit that an attribute asks for, in a program without a store.

#![allow(clippy::unwrap_used)] // helpers of tests may unwrap as the tests themselves do

use resilience::{Config, Error, Resilience, rate_limiter};

#[rate_limiter(
    name = "orders",
    limit_for_period = 1,
    limit_refresh_period = "1h",
    timeout_duration = "0s",
    scope = "global",
    on_store_failure = "closed"
)]
async fn order() -> Result<(), Error> {
    Ok(())
}

#[test]
fn a_start_without_a_store_is_refused_and_names_the_function() {
    let error = resilience::init(Config::default()).unwrap_err().to_string();
    for part in ["order` at tests/tests/init_global.rs:7", "scope = global: there is no section"] {
        assert!(error.contains(part), "{error}");
    }
}

#[tokio::test]
async fn a_registry_that_nobody_has_started_warns_and_goes_as_if_the_store_were_away() {
    let registry = Resilience::from_config(Config::default()).unwrap();
    let refused = registry.scope(async { order().await }).await.unwrap_err();
    assert!(matches!(refused, Error::RequestNotPermitted(_)), "{refused}");
    let warnings = registry.warnings();
    assert!(
        warnings.iter().any(|text| text.starts_with(
            "ratelimiter 'orders' has `scope: global`, and the registry has no store"
        )),
        "{warnings:?}"
    );
}
