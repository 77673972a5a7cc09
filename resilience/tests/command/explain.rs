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
            "Once the callee is well again, callers are refused for 1m more at most, and then until \
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
            "Once the callee is well again, callers are refused for 5s more at most, and then until \
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
            "Were every wait as long as a `retry_after` may ask for: 1m7.5s.",
        ],
    );
    let bounded = yaml.replace("attempts: 3", "attempts: 3, total_timeout: 4s");
    assert!(explained(&bounded).contains("which makes 6.5s."), "{}", explained(&bounded));
    let alone = yaml.replace("max_attempts: 3", "max_attempts: 1");
    assert!(explained(&alone).contains("at most turn 500ms + limit 2s = 2.5s."));
    let endless = bounded.replace("attempts: 3", "attempts: 100000");
    assert!(explained(&endless).contains("which makes 6.5s."), "{}", explained(&endless));
    let pool = "thread-pool-bulkhead.instances.pay: {}\nretry.instances.pay: {}";
    assert!(
        explained(pool).contains("3 x (the time in the queue + the callee's time) + waits 1s.")
    );
    let unbounded = yaml.replace("timelimiter.instances.pay", "timelimiter.instances.other");
    assert!(explained(&unbounded).contains("Nothing bounds how long a call takes"));
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
