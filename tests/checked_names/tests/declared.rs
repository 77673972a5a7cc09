//! What is checked at compile time runs as what is not.

use std::sync::atomic::AtomicU32;

use resilience::{Config, Resilience};
use resilience_tests_checked_names::{backup, inline, pay, render, report, stock};

fn registry() -> Resilience {
    let builder = Config::builder().file("resilience.yaml").file("backup.yaml");
    let config = builder.vars([("STOCK_WAIT", "1ms")]).load().expect("a valid configuration");
    Resilience::from_config(config).expect("a valid configuration")
}

#[tokio::test]
async fn declared_instances_work_by_what_the_file_says() {
    let (registry, calls) = (registry(), AtomicU32::new(0));
    assert!(registry.scope(pay(&calls)).await.is_err());
    assert_eq!(calls.into_inner(), 2);
}

#[tokio::test]
async fn every_function_whose_names_are_right_can_be_called() {
    let registry = registry();
    let calls = async {
        let answers =
            [stock().await, report().await, render().await, inline().await, backup().await];
        answers.map(|answer| answer.expect("an answer"))
    };
    assert_eq!(registry.scope(calls).await, [1, 2, 3, 4, 5]);
}
