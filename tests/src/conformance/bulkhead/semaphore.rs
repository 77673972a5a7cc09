use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use resilience::{Bulkhead, Clock, bulkhead::BulkheadEvent, events::Event};
use serde_json::Value;

use crate::conformance::{Fields, Mismatch};

/// Replays through the untied methods, as the recording was made.
pub(super) fn replay(scenario: &Value) -> Result<(), Mismatch> {
    let config = super::config(&scenario["config"])
        .ok_or_else(|| Mismatch::new(scenario, "the configuration was refused"))?;
    let bulkhead = Bulkhead::with_clock("recorded", config, Clock::manual(Duration::ZERO).0);
    let events = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&events);
    let listener = move |event: &BulkheadEvent| {
        let mut heard = heard.lock().unwrap_or_else(PoisonError::into_inner);
        heard.push(event.type_name().to_lowercase());
    };
    bulkhead.events().subscribe(listener).forever();

    for (index, step) in scenario.list("steps").iter().enumerate() {
        run(scenario, step, &bulkhead).map_err(|mismatch| mismatch.at(index))?;
        let heard: Vec<String> =
            std::mem::take(&mut *events.lock().unwrap_or_else(PoisonError::into_inner));
        check(scenario, step, &bulkhead, &heard).map_err(|mismatch| mismatch.at(index))?;
    }
    Ok(())
}

fn run(scenario: &Value, step: &Value, bulkhead: &Bulkhead) -> Result<(), Mismatch> {
    match step.text("op") {
        "try_acquire" => {
            let permitted = bulkhead.try_acquire_permission();
            let recorded = step["permitted"].as_bool();
            Mismatch::check(scenario, "permitted", &recorded, &Some(permitted))
        }
        "release" => {
            bulkhead.release_permission();
            Ok(())
        }
        "complete" => {
            bulkhead.on_complete();
            Ok(())
        }
        "change_config" => {
            let max = step.natural("maxConcurrentCalls").and_then(|n| u32::try_from(n).ok());
            let max = max.ok_or_else(|| Mismatch::new(scenario, "a step has no maximum"))?;
            bulkhead.change_max_concurrent_calls(max);
            Ok(())
        }
        op => Err(Mismatch::new(scenario, format!("unknown op {op}"))),
    }
}

fn check(
    scenario: &Value,
    step: &Value,
    bulkhead: &Bulkhead,
    events: &[String],
) -> Result<(), Mismatch> {
    let available = Some(u64::from(bulkhead.available_concurrent_calls()));
    Mismatch::check(scenario, "available", &step.natural("available"), &available)?;
    let max = Some(u64::from(bulkhead.max_concurrent_calls()));
    Mismatch::check(scenario, "max_allowed", &step.natural("max_allowed"), &max)?;
    Mismatch::check(scenario, "events", &step.texts("events").as_slice(), &events)
}
