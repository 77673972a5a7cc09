use std::time::Duration;

use resilience_settings::parse_duration;

use super::run::Folder;

fn explained(yaml: &str) -> String {
    let ran = Folder::new().with("r.yaml", yaml).run(&["explain", "r.yaml", "pay"]);
    assert_eq!(ran.status, 0, "{}", ran.remarks);
    ran.answer
}

fn assert_tells(yaml: &str, sentences: &[&str]) {
    let told = explained(yaml);
    for sentence in sentences {
        assert!(
            told.lines().any(|line| line.trim() == *sentence),
            "{sentence:?} is not in:\n{told}"
        );
    }
}

#[test]
fn a_breaker_tells_when_it_opens_and_how_many_calls_that_takes() {
    assert_tells(
        "circuitbreaker.instances.pay: { sliding_window_size: 10, minimum_number_of_calls: 4, failure_rate_threshold: 30 }",
        &[
            "Opens once 30% of the last 10 calls failed, from 4 calls on.",
            "A fresh one opens after 4 failed calls.",
            "After 10 calls that went well it opens after 3 failed calls.",
            "While it is open, every call is refused: for 1m.",
            "Then up to 10 probes are let through: once 4 are back it opens again if 30% of them failed \
             or 100% were slow, and closes otherwise.",
            "Once the callee is well again and the last failure is back, callers are refused for 1m more at most, and then until \
             the probes are back.",
        ],
    );
}

#[test]
fn a_minimum_above_the_window_is_told_as_it_acts() {
    assert_tells(
        "circuitbreaker.instances.pay: { sliding_window_size: 5, minimum_number_of_calls: 10 }",
        &["Opens once 50% of the last 5 calls failed, from 5 calls on."],
    );
}

#[test]
fn a_time_window_needs_the_expected_rate_to_tell_how_many_calls_it_takes() {
    let breaker =
        "sliding_window_type: TIME_BASED, sliding_window_size: 10, minimum_number_of_calls: 5";
    assert_tells(
        &format!("circuitbreaker.instances.pay: {{ {breaker}, expected_rate: 2 }}"),
        &[
            "Opens once 50% of the calls of the last 10s failed, from 5 calls on.",
            "A fresh one opens after 5 failed calls, 2.5s at 2 a second.",
            // Half of the 20 calls that 10 s hold.
            "After 20 calls that went well it opens after 10 failed calls, 5s at 2 a second.",
        ],
    );
    let rare = format!("circuitbreaker.instances.pay: {{ {breaker}, expected_rate: 0.1 }}");
    assert_tells(&rare, &["A fresh one never opens at 0.1 a second."]);
    assert!(
        explained(&format!("circuitbreaker.instances.pay: {{ {breaker} }}"))
            .contains("`expected_rate`")
    );
}

#[test]
fn a_breaker_that_counts_in_a_row_tells_so() {
    assert_tells(
        "circuitbreaker.instances.pay: { failure_counting: consecutive, consecutive_failures: { timeout: 2, default: 3 }, sliding_window_type: TIME_BASED, expected_rate: 0.01 }",
        &[
            "Opens after 2 of the kind timeout, or 3 failures in a row.",
            "After 100 calls that went well it opens after 3 failed calls.",
            "Then up to 10 probes are let through: the first that succeeds closes it, and the first \
             that fails opens it again.",
        ],
    );
}

#[test]
fn a_growing_open_time_is_told_step_by_step() {
    assert_tells(
        "circuitbreaker.instances.pay: { wait_duration_in_open_state: 1s, enable_exponential_backoff: true, exponential_backoff_multiplier: 2, exponential_max_wait_duration_in_open_state: 5s }",
        &[
            "While it is open, every call is refused: for 1s at first, then 2s, 4s, 5s, 5s and so on up \
             to 5s while it does not recover.",
            "Once the callee is well again and the last failure is back, callers are refused for 5s more at most, and then until \
             the probes are back.",
        ],
    );
}

#[test]
fn a_retry_tells_its_waits_one_by_one_and_in_all() {
    assert_tells(
        "retry.instances.pay: { max_attempts: 4, wait_duration: 1s, enable_exponential_backoff: true, exponential_backoff_multiplier: 2 }",
        &[
            "Makes up to 4 attempts, the first one included.",
            "Waits between them: 1s, 2s, 4s.",
            "In all it waits 7s.",
        ],
    );
    assert_tells(
        "retry.instances.pay: { max_attempts: 2, wait_duration: 100ms, enable_randomized_wait: true }",
        &["Waits between them: 50ms to 150ms."],
    );
}

#[test]
fn a_limiter_tells_how_many_calls_may_come_at_once() {
    let limiter = "limit_for_period: 5, limit_refresh_period: 1s";
    assert_tells(
        &format!("ratelimiter.instances.pay: {{ {limiter} }}"),
        &["Lets 5 calls through in every 1s; the permissions of a period come all at once."],
    );
    // Five at once, and four more before the second is over.
    assert_tells(
        &format!("ratelimiter.instances.pay: {{ {limiter}, refill: greedy }}"),
        &[
            "Lets 5 calls through at once after a quiet time, and 5 calls every 1s in the long run; \
           permissions come back one by one.",
        ],
    );
}

#[test]
fn a_budget_is_told_with_its_numbers() {
    let told = explained(
        "retry: { budgets: { all: { ratio: 0.1 } }, instances: { pay: { budget: all } } }",
    );
    assert!(told.contains("the budget 'all' (ratio = 0.1, min_per_second = 10)"), "{told}");
}

#[test]
fn what_is_switched_off_is_told_so() {
    assert_tells(
        "retry: { enabled: false, instances: { pay: {} } }",
        &["It is switched off: every call passes."],
    );
}

#[test]
fn the_longest_latency_of_a_stack_is_told_with_its_formula() {
    let yaml = "
retry.instances.pay: { max_attempts: 3, wait_duration: 1s }
ratelimiter.instances.pay: { timeout_duration: 500ms }
timelimiter.instances.pay: { timeout_duration: 2s }
bulkhead.instances.pay: { max_wait_duration: 1s }
";
    assert_tells(
        yaml,
        &[
            "retry( rate limiter( time limiter( bulkhead( body ) ) ) )",
            // The wait for a slot is part of the limit.
            "A caller waits for at most 3 x (turn 500ms + limit 2s) + waits 2s = 9.5s.",
            // Two waits of 30 s instead of two of 1 s.
            "Were every wait as long as a `retry_after` of an error may ask for: 1m7.5s.",
        ],
    );
    let bounded = yaml.replace("attempts: 3", "attempts: 3, total_timeout: 4s");
    let bound =
        "at most `total_timeout` 4s + turn 500ms + limit 2s = 6.5s: no attempt starts later";
    assert!(explained(&bounded).contains(bound), "{}", explained(&bounded));
    let alone = yaml.replace("max_attempts: 3", "max_attempts: 1");
    assert!(explained(&alone).contains("at most turn 500ms + limit 2s = 2.5s."));
    let endless = bounded.replace("attempts: 3", "attempts: 100000");
    assert!(explained(&endless).contains(bound), "{}", explained(&endless));
    let many = yaml.replace("attempts: 3", "attempts: 100000");
    let days = "100000 x (turn 500ms + limit 2s) + waits 1d3h46m39s = 4d1h13m19s.";
    assert!(explained(&many).contains(days), "{}", explained(&many));
    let pool = "thread-pool-bulkhead.instances.pay: {}\nretry.instances.pay: {}";
    assert!(
        explained(pool).contains("3 x (the time in the queue + the callee's time) + waits 1s.")
    );
    let unbounded = yaml.replace("timelimiter.instances.pay", "timelimiter.instances.other");
    assert!(explained(&unbounded).contains("Nothing bounds how long a call takes"));
}

/// The longest that a caller waits, as it is told.
fn told_bound(told: &str) -> Duration {
    let bound = |line: &str| {
        let (_, time) = line.split_once("A caller waits for at most")?.1.rsplit_once(" = ")?;
        parse_duration(time.split(':').next()?.trim_end_matches('.')).ok()
    };
    told.lines().find_map(bound).expect("a bound")
}

#[test]
fn no_caller_waits_longer_than_is_told() {
    let backends = ["[{ latency: 10s }]", "[{ error_rate: 100 }]", "[{ latency: 1ms }]"];
    for (yaml, longest) in [
        (
            // What the limiter refuses says when to come again.
            "
retry.instances.pay: { max_attempts: 3, wait_duration: 100ms }
ratelimiter.instances.pay: { limit_for_period: 10, limit_refresh_period: 20s, timeout_duration: 0 }
timelimiter.instances.pay: { timeout_duration: 1s }",
            "43s",
        ),
        (
            "
retry.instances.pay: { max_attempts: 3, wait_duration: 100ms, ignore_errors: [request_not_permitted] }
ratelimiter.instances.pay: { limit_for_period: 10, limit_refresh_period: 20s, timeout_duration: 5s }
timelimiter.instances.pay: { timeout_duration: 1s }",
            "18.2s",
        ),
        (
            "
retry.instances.pay: { max_attempts: 4, wait_duration: 100ms, retry_errors: [call_not_permitted, io] }
circuitbreaker.instances.pay: { sliding_window_size: 5, wait_duration_in_open_state: 7s }
timelimiter.instances.pay: { timeout_duration: 1s }",
            "25s",
        ),
        (
            "
retry.instances.pay: { max_attempts: 9, wait_duration: 1s, total_timeout: 3s }
bulkhead.instances.pay: { max_concurrent_calls: 2, max_wait_duration: 5s }
timelimiter.instances.pay: { timeout_duration: 2s }",
            "5s",
        ),
    ] {
        let folder = Folder::new().with("r.yaml", yaml);
        let told = folder.run(&["explain", "r.yaml", "pay"]).answer;
        let bound = told_bound(&told);
        assert_eq!(readable(bound), longest, "{told}");
        for backend in backends {
            let scenario = format!("{{ stack: pay, duration: 3m, rate: 3, backend: {backend} }}");
            std::fs::write(folder.path().join("s.yaml"), scenario).unwrap();
            let seen = folder.run(&["simulate", "r.yaml", "--scenario", "s.yaml"]).answer;
            let p99 = seen.lines().skip(1).take(180).filter_map(|line| line.split_whitespace().last());
            let slowest = p99.filter_map(|time| parse_duration(time).ok()).max().unwrap();
            assert!(slowest <= bound, "{slowest:?} is more than {bound:?} with {backend}: {told}");
        }
    }
}

/// The backend fails for half a minute; at 20 calls a second the probes are back within one.
#[test]
fn an_outage_is_over_for_callers_when_it_is_told_to_be() {
    let scenario =
        "{ stack: pay, duration: 3m, rate: 20, backend: [{ for: 30s, error_rate: 100 }, {}] }";
    for settings in [
        "wait_duration_in_open_state: 7s",
        "wait_duration_in_open_state: 40s, half_open_evaluation: conclusive",
        "wait_duration_in_open_state: 10s, enable_randomized_wait: true",
        "wait_duration_in_open_state: 1s, enable_exponential_backoff: true, \
         exponential_max_wait_duration_in_open_state: 20s",
        "wait_duration_in_open_state: 9s, enable_exponential_backoff: true, \
         exponential_backoff_multiplier: 1",
        "wait_duration_in_open_state: 5s, failure_counting: consecutive",
    ] {
        let instance =
            format!("circuitbreaker.instances.pay: {{ sliding_window_size: 10, {settings} }}");
        let folder = Folder::new().with("r.yaml", &instance).with("s.yaml", scenario);
        let told = folder.run(&["explain", "r.yaml", "pay"]).answer;
        let more =
            told.split("callers are refused for ").nth(1).unwrap().split(' ').next().unwrap();
        let end = 30 + parse_duration(more).unwrap().as_secs();
        let seen = folder.run(&["simulate", "r.yaml", "--scenario", "s.yaml"]).answer;
        let refused = |line: &str| line.split_whitespace().nth(8).is_some_and(|n| n != "0");
        let rows: Vec<&str> = seen.lines().skip(1).take(180).collect();
        let last = rows.iter().rposition(|row| refused(row)).unwrap() as u64;
        assert!(last <= end + 1, "{last} is not within {end}: {told}");
    }
}

fn readable(time: Duration) -> String {
    format!("{}s", time.as_secs_f64())
}

#[test]
fn a_state_to_start_in_is_told_before_what_holds_after_it() {
    for (state, wanted) in [
        ("FORCED_OPEN", "every call is refused, until it is closed by hand"),
        ("DISABLED", "every call passes and none counts, until it is closed by hand"),
        (
            "METRICS_ONLY",
            "every call passes and counts, and none opens it, until it is closed by hand",
        ),
        ("OPEN", "calls are refused for 1m, and then probes decide"),
        ("HALF_OPEN", "probes decide at once"),
    ] {
        let told =
            explained(&format!("circuitbreaker.instances.pay: {{ initial_state: {state} }}"));
        let wanted = format!("  Starts {state}: {wanted}. The rest is about the time after that.");
        assert_eq!(told.lines().nth(1), Some(wanted.as_str()), "{told}");
    }
    assert!(!explained("circuitbreaker.instances.pay: {}").contains("Starts"));
}

/// Nobody can ignore the time limiter's timeout: it would hide an outage.
#[test]
fn ignored_timeouts_are_not_those_of_the_time_limiter() {
    assert_tells(
        "circuitbreaker.instances.pay: { ignore_errors: [timeout] }",
        &[
            "Every error is a failure; these count as neither: timeout, but for the time limiter's own \
           timeouts, which are failures.",
        ],
    );
}

#[test]
fn a_half_open_state_that_ends_open_may_come_again() {
    let breaker = "wait_duration_in_open_state: 5s, max_wait_duration_in_half_open_state: 2s";
    let to = |state: &str| {
        explained(&format!(
            "circuitbreaker.instances.pay: {{ {breaker}, transition_to_state_after_wait_duration: {state} }}"
        ))
    };
    let again = "until the probes are back; where they are not within 2s, it is all to do again.";
    assert!(to("OPEN").contains(again), "{}", to("OPEN"));
    assert!(to("CLOSED").contains("until the probes are back."), "{}", to("CLOSED"));
}

#[test]
fn a_single_attempt_retries_nothing() {
    assert_eq!(
        explained("retry.instances.pay: { max_attempts: 1 }"),
        "retry 'pay'\n  Makes one attempt: nothing is retried.\n"
    );
}

#[test]
fn a_wait_that_nothing_can_lengthen_is_told_as_it_is() {
    for settings in ["retry_after_max: 0", "wait_duration: 40s"] {
        let told = explained(&format!("retry.instances.pay: {{ {settings} }}"));
        assert!(!told.contains("retry_after"), "{told}");
    }
}

#[test]
fn a_call_on_a_thread_is_told_to_run_on() {
    let pool = "core_thread_pool_size: 2, max_thread_pool_size";
    assert_tells(
        &format!(
            "timelimiter.instances.pay: {{}}\nthread-pool-bulkhead.instances.pay: {{ {pool}: 4, queue_capacity: 1 }}"
        ),
        &[
            "On its thread the call runs on to its end; for the breaker around it, it has failed.",
            "Runs calls on 2 threads; up to 1 further call may wait for one, and then there are up to 4.",
            "With 5 under way or waiting, the next is refused.",
        ],
    );
    assert_tells(
        &format!("thread-pool-bulkhead.instances.pay: {{ {pool}: 2, queue_capacity: 0 }}"),
        &["Runs calls on 2 threads; none waits for one."],
    );
}

#[test]
fn a_window_that_holds_no_call_is_not_filled_with_any() {
    let told = explained(
        "circuitbreaker.instances.pay: { sliding_window_type: TIME_BASED, sliding_window_size: 10, expected_rate: 0.001 }",
    );
    assert!(told.contains("A fresh one never opens at 0.001 a second."), "{told}");
    assert!(!told.contains("After 0 calls"), "{told}");
}

#[test]
fn what_protects_one_function_may_have_several_names() {
    let folder = Folder::new().with(
        "r.yaml",
        "retry.instances: { pay: {}, other: {} }\ntimelimiter.instances.payTl: { timeout_duration: 2s }",
    );
    let ran = folder.run(&["explain", "r.yaml", "pay", "pay-tl"]);
    assert!(ran.answer.contains("timelimiter 'payTl'"), "{}", ran.answer);
    assert!(ran.answer.contains("at most 3 x (limit 2s) + waits 1s = 7s."), "{}", ran.answer);
    let two = folder.run(&["explain", "r.yaml", "pay", "other"]);
    let wanted = "retry has 'pay' and 'other'; name those that protect one function";
    assert!(two.remarks.contains(wanted), "{}", two.remarks);
}

#[test]
fn a_name_that_nobody_declares_is_told_with_the_nearest() {
    let folder = Folder::new().with("r.yaml", "retry.instances.payment: {}");
    let ran = folder.run(&["explain", "r.yaml", "paymnt"]);
    assert_eq!(ran.status, 1);
    let wanted = "error: no pattern declares an instance 'paymnt'; did you mean 'payment'?\n";
    assert_eq!((ran.answer.as_str(), ran.remarks.as_str()), ("", wanted));
}
