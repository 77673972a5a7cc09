//! The report of the start: settings that contradict each other are found by what protects one
//! function, whatever the instances are called, and never stop the start.

use resilience::{
    Config, Error, bulkhead, circuit_breaker,
    config::{Finding, Format, Severity},
    rate_limiter, time_limiter,
};

#[circuit_breaker(name = "payCb")]
#[time_limiter(name = "payTl")]
#[bulkhead(name = "payBh")]
async fn pay() -> Result<u32, Error> {
    Ok(1)
}

#[rate_limiter(name = "batchRl", permits = 20)]
async fn batch() -> Result<u32, Error> {
    Ok(2)
}

#[time_limiter(name = "apart")]
async fn apart() -> Result<u32, Error> {
    Ok(3)
}

const YAML: &str = "
strict: true
circuitbreaker:
  instances:
    payCb: { slow_call_duration_threshold: 5s, ignore_errors: [bulkhead_full] }
timelimiter:
  instances:
    payTl: { timeout_duration: 2s }
    apart: { timeout_duration: 1s }
bulkhead:
  instances:
    payBh: { max_wait_duration: 3s }
    # Used by another function than the time limiter of this name.
    apart: { max_wait_duration: 9s }
ratelimiter:
  instances:
    batchRl: { limit_for_period: 10 }
";

#[test]
fn contradictions_of_what_protects_one_function_are_found_at_the_start() {
    let registry = resilience::init(Config::from_str(YAML, Format::Yaml).unwrap()).unwrap();
    let report = registry.report();
    let of = |code| -> Vec<&Finding> {
        report.findings().iter().filter(|finding| finding.code == code).collect()
    };

    let slow = of("slow_above_limit");
    assert_eq!(slow.len(), 1);
    assert_eq!(slow[0].severity, Severity::Warning);
    let path = "circuitbreaker.instances.payCb.slow_call_duration_threshold";
    assert_eq!(slow[0].path.as_deref(), Some(path));
    assert_eq!(slow[0].place.as_deref(), Some("<text>:5"));
    for part in ["init_report::pay", "init_report.rs:10", "timelimiter.instances.payTl"] {
        assert!(slow[0].message.contains(part), "{part} is not in: {}", slow[0]);
    }

    let limit = of("limit_below_wait");
    assert_eq!(limit.len(), 1, "only a function's own instances go together: {limit:?}");
    assert_eq!(limit[0].place.as_deref(), Some("<text>:8"));

    assert_eq!(of("permits_above_limit").len(), 1);
    assert!(registry.warnings().contains(&slow[0].to_string()));
}
