//! Scenarios of kind `semaphore_bulkhead` and `thread_pool_bulkhead`, and `config_validation` of
//! both modules.

mod semaphore;
mod thread_pool;

use std::time::Duration;

use resilience::{BulkheadConfig, ThreadPoolBulkheadConfig};
use serde_json::Value;

use super::{Fields, Mismatch};

/// Replays one line of `bulkhead.jsonl`.
///
/// # Errors
///
/// The first step that went another way than recorded.
pub(super) fn replay(scenario: &Value) -> Result<(), Mismatch> {
    match scenario.text("kind") {
        "semaphore_bulkhead" => semaphore::replay(scenario),
        "thread_pool_bulkhead" => thread_pool::replay(scenario),
        "config_validation" => {
            let valid = match scenario.text("module") {
                "bulkhead" => config(&scenario["config"]).is_some(),
                "thread_pool_bulkhead" => thread_pool_config(&scenario["config"]).is_some(),
                module => return Err(Mismatch::new(scenario, format!("module {module}"))),
            };
            Mismatch::check(scenario, "valid", &scenario["valid"].as_bool(), &Some(valid))
        }
        kind => Err(Mismatch::new(scenario, format!("unknown kind {kind}"))),
    }
}

/// `None` is a refusal, by the builder or, for what is below zero, by its types.
fn config(recorded: &Value) -> Option<BulkheadConfig> {
    let mut builder = BulkheadConfig::builder();
    for (key, value) in recorded.as_object()? {
        builder = match key.as_str() {
            "maxConcurrentCalls" => {
                builder.max_concurrent_calls(u32::try_from(value.as_u64()?).ok()?)
            }
            "maxWaitDuration" => builder.max_wait_duration(Duration::from_millis(value.as_u64()?)),
            "maxWaitDuration_ns" => {
                builder.max_wait_duration(Duration::from_nanos(value.as_u64()?))
            }
            // Our queue is always fair.
            "fairCallHandlingStrategyEnabled" => builder,
            _ => return None,
        };
    }
    builder.build().ok()
}

fn thread_pool_config(recorded: &Value) -> Option<ThreadPoolBulkheadConfig> {
    let mut builder = ThreadPoolBulkheadConfig::builder();
    for (key, value) in recorded.as_object()? {
        let value = value.as_u64()?;
        let size = u32::try_from(value).ok()?;
        builder = match key.as_str() {
            "coreThreadPoolSize" => builder.core_thread_pool_size(size),
            "maxThreadPoolSize" => builder.max_thread_pool_size(size),
            "queueCapacity" => builder.queue_capacity(size),
            "keepAliveDuration" => builder.keep_alive_duration(Duration::from_millis(value)),
            _ => return None,
        };
    }
    builder.build().ok()
}
