//! `resilience::init` with a configuration that fits the program: what was used before is
//! reconfigured in place, and what is questionable is said once, with function, file and line.

use resilience::{Config, Error, bulkhead, config::Format, rate_limiter, retry, time_limiter};

#[retry(name = "declared")]
async fn declared() -> Result<u32, Error> {
    Ok(1)
}

#[bulkhead(name = "misspelt-stok")]
async fn undeclared() -> Result<u32, Error> {
    Ok(2)
}

#[time_limiter(name = "inlineOnly", timeout_duration = "3s")]
async fn inline_only() -> Result<u32, Error> {
    Ok(3)
}

#[rate_limiter(name = "both", limit_for_period = 7, timeout_duration = "1s")]
async fn inline_and_declared() -> Result<u32, Error> {
    Ok(4)
}

#[retry(name = "budgeted", budget = "of-the-attribute")]
async fn budgeted() -> Result<u32, Error> {
    Ok(6)
}

#[retry(name = "timeless", deadline)]
async fn timeless() -> Result<u32, Error> {
    Ok(7)
}

#[retry(name = "timed", deadline)]
async fn timed() -> Result<u32, Error> {
    Ok(8)
}

const YAML: &str = "
retry:
  budgets:
    ofTheFile: { ratio: 0.5 }
    ofTheAttribute: {}
    ofNobody: {}
  instances:
    declared: { max_attempts: 7, budget: ofTheFile }
    timeless: {}
    timed: { total_timeout: 2s }
bulkhead:
  instances:
    misspelt-stock: {}
ratelimiter:
  configs:
    default: { limit_for_period: 5, timeout_duration: 2s }
  instances:
    both: { timeout_duration: 4s }
timelimiter:
  instances:
    runsOn: { cancel_running_future: false }
";

#[time_limiter(name = "runsOn")]
async fn not_detached() -> Result<u32, Error> {
    Ok(5)
}

#[tokio::test]
async fn i12_a_program_starts_and_hears_what_is_questionable() {
    let before = resilience::global().retry("declared");
    assert_eq!(declared().await, Ok(1));
    assert_eq!(before.config().max_attempts(), 3);

    let budget = resilience::global().retry_budget("ofTheAttribute");
    assert_eq!(budgeted().await, Ok(6));
    assert_eq!(budget.metrics().calls, 1);

    let config = Config::builder().env(false).text(YAML, Format::Yaml).load().unwrap();
    let registry = resilience::init(config.clone()).unwrap();
    assert_eq!(before.config().max_attempts(), 7, "what was used before is reconfigured in place");
    assert_eq!(before.metrics().total_calls, 1);

    assert_eq!(declared().await, Ok(1));
    assert_eq!(registry.retry_budget("ofTheFile").metrics().calls, 1);
    assert_eq!(budgeted().await, Ok(6));
    assert_eq!(budget.metrics().calls, 2, "a budget that was there stays the same one");
    assert_eq!(registry.retry_budget("of-the-attribute"), budget);

    let warnings = registry.warnings();
    let about = |part: &str| warnings.iter().filter(|w| w.contains(part)).count();
    let undeclared_warning = warnings.iter().find(|w| w.contains("misspelt-stok'")).unwrap();
    for part in ["init::undeclared", "init.rs:", "did you mean 'misspelt-stock'"] {
        assert!(undeclared_warning.contains(part), "{undeclared_warning}");
    }
    let unused = "is declared, but no annotated function uses it; is it looked up by name?";
    assert_eq!(about(&format!("'misspelt-stock' {unused}")), 1);
    assert_eq!(about("retry budget 'ofNobody' is declared, but no retry names it"), 1);
    assert_eq!(about("retry budget"), 1, "{warnings:?}");
    assert_eq!(about("has `deadline` and no end to tell"), 1, "{warnings:?}");
    assert_eq!((about("init::timeless"), about("init::timed")), (1, 0));
    assert_eq!((timeless().await, timed().await), (Ok(7), Ok(8)));
    assert_eq!(about("inlineOnly"), 0, "inline settings declare an instance");
    assert_eq!(about("init::not_detached"), 1, "{warnings:?}");

    // Neither a look-up nor a reload leaves it a question who uses them.
    registry.stack().bulkhead("MisspeltStock").build();
    registry.retry_budget("ofNobody");
    let warnings: Vec<String> = registry.warnings();
    let about = |part: &str| warnings.iter().filter(|w| w.contains(part)).count();
    assert_eq!((about(unused), about("retry budget")), (0, 0), "{warnings:?}");
    registry.reload(config.clone()).unwrap();
    assert_eq!(registry.warnings(), warnings);

    // The warning is not repeated when the function is called.
    assert_eq!(undeclared().await, Ok(2));
    assert_eq!(registry.warnings().len(), warnings.len());

    // configs.default lies below the attribute, the instance above it.
    let both = registry.rate_limiter("both").config();
    assert_eq!(both.limit_for_period(), 7);
    assert_eq!(both.timeout_duration().as_secs(), 4);
    assert_eq!(registry.time_limiter("inline-only").config().timeout_duration().as_secs(), 3);
    let effective = registry.effective_config();
    let origin_of = |path: &str| {
        let found = effective.iter().find(|(known, ..)| known == path);
        let (_, value, origin) = found.unwrap_or_else(|| panic!("{path} is not there"));
        format!("{value} from {origin}")
    };
    let inline = origin_of("timelimiter.instances.inlineOnly.timeout_duration");
    assert!(inline.starts_with("3s from attribute at ") && inline.contains("init.rs:"), "{inline}");
    let declared = origin_of("ratelimiter.instances.both.timeout_duration");
    assert!(declared.starts_with("4s from <text>:"), "{declared}");
    let calls = (inline_only().await, inline_and_declared().await, not_detached().await);
    assert_eq!(calls, (Ok(3), Ok(4), Ok(5)));

    let error = resilience::init(config).unwrap_err();
    assert!(error.to_string().contains("called twice"), "{error}");
}
