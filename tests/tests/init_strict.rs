//! `strict: true`: names that the calling package uses and nobody declares stop the start.

use resilience::{Config, Error, config::Format, retry};

#[retry(name = "nowhere")]
async fn call() -> Result<u32, Error> {
    Ok(1)
}

#[tokio::test]
async fn i12_an_undeclared_name_stops_the_start_and_changes_nothing() {
    let strict =
        || Config::from_str("strict: true\nretry.instances.other: {}", Format::Yaml).unwrap();
    let error = resilience::init(strict()).unwrap_err().to_string();
    for part in ["init_strict::call", "init_strict.rs:5", "retry 'nowhere'"] {
        assert!(error.contains(part), "{part} is not in: {error}");
    }
    assert!(resilience::global().find_retry("other").is_none(), "nothing was applied");
    let error = resilience::init_for(strict(), &["resilience_tests"]).unwrap_err();
    assert_eq!(error.problems().len(), 1);

    // Strictness covers the packages that it is asked for; a failed start can be tried again.
    let registry = resilience::init_for(strict(), &["another-package"]).unwrap();
    assert!(registry.warnings().iter().any(|w| w.contains("'nowhere'")));
    assert_eq!(call().await, Ok(1));
}
