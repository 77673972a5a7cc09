use std::time::Duration;

use resilience_settings::{Pattern, Value};

use crate::{Origin, Problem, Settings};

/// What no single key can check: that the values of one instance fit together, and can be kept in
/// the precision that the pattern works in.
pub fn contradictions(settings: &Settings) -> Vec<Problem> {
    match settings.pattern() {
        Pattern::CircuitBreaker => circuit_breaker(settings),
        Pattern::RateLimiter => rate_limiter(settings),
        Pattern::ThreadPoolBulkhead => thread_pool_bulkhead(settings).into_iter().collect(),
        Pattern::Retry | Pattern::TimeLimiter | Pattern::Bulkhead => Vec::new(),
    }
}

fn circuit_breaker(settings: &Settings) -> Vec<Problem> {
    let mut problems = Vec::new();
    let permitted = settings.u32("permitted_number_of_calls_in_half_open_state");
    if settings.integer("half_open_success_threshold").is_some_and(|n| n > permitted.into()) {
        problems.push(problem(
            settings,
            "half_open_success_threshold",
            format!(
                "expected at most permitted_number_of_calls_in_half_open_state = {permitted}: \
                 with fewer probes than that it is never reached"
            ),
        ));
    }
    if settings.bool("enable_exponential_backoff") && settings.bool("enable_randomized_wait") {
        problems.push(problem(
            settings,
            "enable_randomized_wait",
            "cannot be combined with enable_exponential_backoff; keep one of the two",
        ));
    }
    let thresholds =
        ["failure_rate_threshold", "slow_call_rate_threshold", "half_open_failure_rate_threshold"];
    let vanishing = thresholds.into_iter().filter(|key| vanishes(settings, key));
    problems.extend(
        vanishing.map(|key| problem(settings, key, "is too close to 0 to be told from it")),
    );
    problems.extend(global_circuit_breaker(settings));
    problems
}

/// How often a process may speak with a store.
const SHORTEST_SYNC: Duration = Duration::from_millis(50);
const LONGEST_SYNC: Duration = Duration::from_mins(1);

fn global_circuit_breaker(settings: &Settings) -> Vec<Problem> {
    let mut problems = Vec::new();
    if settings.word("scope") != "global" {
        return problems;
    }
    if settings.word("failure_counting") == "consecutive" {
        let message = "failures in a row have no order over several processes: with `scope: global`, \
                       write `failure_counting: rate`";
        problems.push(problem(settings, "failure_counting", message));
    }
    if settings.integer("half_open_success_threshold").is_some() {
        let message = "successes in a row have no order over several processes: with `scope: global`, \
                       leave it out, and set half_open_failure_rate_threshold";
        problems.push(problem(settings, "half_open_success_threshold", message));
    }
    let interval = settings.duration("sync_interval");
    if !(SHORTEST_SYNC..=LONGEST_SYNC).contains(&interval) {
        let message = "with `scope: global`, expected 50ms to 1m";
        problems.push(problem(settings, "sync_interval", message));
    }
    let window = Duration::from_secs(settings.u32("sliding_window_size").into());
    if settings.word("sliding_window_type") == "TIME_BASED" && interval > window {
        let message = format!(
            "expected at most the sliding window, which is {}s: what is told later than that is \
             forgotten at once",
            window.as_secs()
        );
        problems.push(problem(settings, "sync_interval", message));
    }
    problems
}

/// Whether a threshold is 0 in the precision that rates are computed in.
fn vanishes(settings: &Settings, key: &str) -> bool {
    #[allow(clippy::cast_possible_truncation)] // from 0 to 100: only precision is lost
    settings.float(key).is_some_and(|threshold| threshold as f32 <= 0.0)
}

fn rate_limiter(settings: &Settings) -> Vec<Problem> {
    // A file cannot write a longer duration, but a builder can.
    let too_long = |key: &&str| i64::try_from(settings.duration(key).as_nanos()).is_err();
    let durations = ["limit_refresh_period", "timeout_duration"].into_iter().filter(too_long);
    durations
        .map(|key| problem(settings, key, "expected a duration of at most 292 years"))
        .chain(global_rate_limiter(settings))
        .collect()
}

/// What a store can count by, in its microseconds and its numbers.
const SHORTEST_GLOBAL_PERIOD: Duration = Duration::from_millis(1);
const LONGEST_GLOBAL_PERIOD: Duration = Duration::from_hours(365 * 24);

fn global_rate_limiter(settings: &Settings) -> Vec<Problem> {
    let mut problems = Vec::new();
    if settings.word("scope") != "global" {
        return problems;
    }
    if settings.optional_word("on_store_failure").is_none() {
        let message = "`scope: global` needs `on_store_failure`: `open` lets calls through while the \
                       store is away, `closed` refuses them, `local` counts them in each process";
        problems.push(Problem::new(message).path("on_store_failure"));
    }
    let period = settings.duration("limit_refresh_period");
    if !(SHORTEST_GLOBAL_PERIOD..=LONGEST_GLOBAL_PERIOD).contains(&period) {
        let message = "with `scope: global`, expected a period of 1ms to 365d";
        problems.push(problem(settings, "limit_refresh_period", message));
    }
    let limit = settings.u32("limit_for_period");
    if settings.u32("lease") > limit {
        let message = format!("expected at most limit_for_period, which is {limit}");
        problems.push(problem(settings, "lease", message));
    }
    problems
}

/// Where only one of the two was set, the other follows it.
fn thread_pool_bulkhead(settings: &Settings) -> Option<Problem> {
    let core = settings.u32("core_thread_pool_size");
    let both_set = ["core_thread_pool_size", "max_thread_pool_size"]
        .into_iter()
        .all(|key| settings.origin(key) != Origin::Default);
    let crossed = both_set && core > settings.u32("max_thread_pool_size");
    crossed.then(|| {
        let message = format!("expected at least core_thread_pool_size, which is {core}");
        problem(settings, "max_thread_pool_size", message)
    })
}

fn problem(settings: &Settings, key: &str, message: impl Into<String>) -> Problem {
    let value = settings.get(key).map_or_else(String::new, Value::to_string);
    Problem::new(message).path(key).value(value)
}
