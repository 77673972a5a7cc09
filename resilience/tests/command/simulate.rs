use super::run::{Folder, Ran};

const INSTANCES: &str = "
circuitbreaker.instances.pay: { sliding_window_size: 10, minimum_number_of_calls: 10, wait_duration_in_open_state: 5s, permitted_number_of_calls_in_half_open_state: 2 }
retry.instances.pay: { max_attempts: 2, wait_duration: 100ms, enable_randomized_wait: true }
timelimiter.instances.pay: { timeout_duration: 1s }
";

const OUTAGE: &str = "
stack: { circuit_breaker: pay }
duration: 20s
rate: 10
backend:
  - { for: 5s, latency: 10ms }
  - { for: 5s, latency: 10ms, error_rate: 100 }
  - { latency: 10ms }
";

fn folder(scenario: &str) -> Folder {
    Folder::new().with("r.yaml", INSTANCES).with("outage.yaml", scenario)
}

const SIMULATE: [&str; 4] = ["simulate", "r.yaml", "--scenario", "outage.yaml"];

fn simulated(scenario: &str) -> Ran {
    let ran = folder(scenario).run(&SIMULATE);
    assert_eq!(ran.status, 0, "{}", ran.remarks);
    ran
}

/// 49 calls go well before the outage; 5 of the 10 in the window have failed half a second into it.
#[test]
fn a_breaker_opens_in_an_outage_and_closes_after_it() {
    let ran = simulated(OUTAGE);
    assert!(ran.has_line(&["5.41s", "CLOSED", "->", "OPEN"]), "{}", ran.answer);
    // With the first call after the wait; by then the backend is well again.
    assert!(ran.has_line(&["10.5s", "OPEN", "->", "HALF_OPEN"]), "{}", ran.answer);
    assert!(ran.has_line(&["10.61s", "HALF_OPEN", "->", "CLOSED"]), "{}", ran.answer);
    assert!(ran.answer.contains("state  CCCCCOOOOOCCCCCCCCCC"), "{}", ran.answer);
}

#[test]
fn every_call_is_counted_once() {
    let ran = simulated(OUTAGE);
    let summary = "200 calls: 144 ok, 5 failed, 0 timed out, 50 refused (circuit breaker 50, rate \
                   limiter 0, bulkhead 0), 1 under way at the end; 150 attempts reached the backend";
    assert!(ran.answer.contains(summary), "{}", ran.answer);
}

#[test]
fn a_second_tells_what_happened_in_it() {
    let ran = simulated(OUTAGE);
    let line = ["7", "OPEN", "50%", "10", "0", "0", "0", "0", "10", "0ms", "0ms"];
    assert!(ran.has_line(&line), "{}", ran.answer);
}

#[test]
fn the_stack_may_be_all_instances_of_a_name() {
    let scenario = "{ stack: pay, duration: 2s, rate: 10, backend: [{ latency: 10s }] }";
    let ran = simulated(scenario);
    // Attempts take the time limit, and there is another one after the wait.
    assert!(ran.answer.contains("20 calls: 0 ok, 0 failed, 0 timed out"), "{}", ran.answer);
    let longer = scenario.replace("duration: 2s", "duration: 3s");
    assert!(!simulated(&longer).answer.contains(" 0 timed out"));
}

#[test]
fn a_seed_always_gives_the_same_and_another_one_something_else() {
    let scenario = |seed| {
        format!(
            "{{ stack: pay, seed: {seed}, duration: 30s, rate: 20, jitter: 0.5, \
             backend: [{{ latency: 10ms..90ms, error_rate: 30 }}] }}"
        )
    };
    let of = |seed| simulated(&scenario(seed)).answer;
    assert_eq!(of(1), of(1));
    assert_ne!(of(1), of(2));
}

#[test]
fn arrivals_have_phases() {
    let scenario = "
stack: pay
duration: 6s
arrivals: [{ for: 2s, rate: 5 }, { for: 2s, rate: 0 }, { rate: 1.3 }]
backend: [{ latency: 1ms }]
";
    let calls: Vec<String> = simulated(scenario)
        .answer
        .lines()
        .skip(1)
        .take(6)
        .map(|line| line.split_whitespace().nth(3).unwrap().to_owned())
        .collect();
    // The tenth call is due where the first phase ends: it waits for the end of the silence.
    assert_eq!(calls, ["5", "4", "0", "0", "2", "1"]);
}

/// A backend goes on as it was last; calls come only in the phases that are written.
#[test]
fn after_their_last_phase_calls_end_and_the_backend_goes_on() {
    let scenario = "
stack: { retry: pay }
duration: 4s
arrivals: [{ for: 2s, rate: 4 }]
backend: [{ for: 1s, latency: 1ms, error_rate: 100 }]
";
    let ran = simulated(scenario);
    assert!(ran.answer.contains("7 calls: 0 ok, 7 failed"), "{}", ran.answer);
}

#[test]
fn changes_of_state_beyond_those_that_are_told_are_counted() {
    let folder = Folder::new()
        .with("r.yaml", "circuitbreaker.instances.pay: { sliding_window_size: 1, wait_duration_in_open_state: 1ms, permitted_number_of_calls_in_half_open_state: 1 }")
        .with("outage.yaml", "{ stack: pay, duration: 2s, rate: 10000, backend: [{ error_rate: 100 }] }");
    let ran = folder.run(&SIMULATE);
    let told = ran.answer.lines().filter(|line| line.contains(" -> ")).count();
    let more =
        ran.answer.lines().find_map(|line| line.trim().strip_prefix("and ")?.strip_suffix(" more"));
    assert_eq!(told, 1_000);
    // It opens, and then with each call after its wait goes half-open and opens again.
    assert!(more.unwrap().parse::<u32>().unwrap() > 1_000, "{more:?}");
}

#[test]
fn a_thread_pool_is_not_left_out_without_a_word() {
    for instances in ["", INSTANCES] {
        let folder = Folder::new()
            .with("r.yaml", &format!("{instances}\nthread-pool-bulkhead.instances.pay: {{}}"))
            .with("outage.yaml", &OUTAGE.replace("{ circuit_breaker: pay }", "pay"));
        let ran = folder.run(&SIMULATE);
        assert_eq!(ran.status, 1, "{}", ran.answer);
        let wanted = "'pay' has a thread pool, which cannot be simulated";
        assert!(ran.remarks.contains(wanted), "{}", ran.remarks);
    }
}

#[test]
fn error_kinds_are_what_the_lists_of_the_instances_name() {
    let instances = INSTANCES.replace("minimum", "ignore_errors: [http_4xx], minimum");
    let scenario = OUTAGE.replace("error_rate: 100", "error_rate: 100, error_kind: http_4xx");
    let ran =
        Folder::new().with("r.yaml", &instances).with("outage.yaml", &scenario).run(&SIMULATE);
    assert!(!ran.answer.contains("OPEN"), "{}", ran.answer);
}

/// The kinds of a program are not known to the command.
#[test]
fn a_kind_of_the_programs_own_opens_the_breaker_that_records_it() {
    let instances = INSTANCES.replace("minimum", "record_errors: [out_of_stock], minimum");
    let scenario = OUTAGE.replace("error_rate: 100", "error_rate: 100, error_kind: out_of_stock");
    let ran =
        Folder::new().with("r.yaml", &instances).with("outage.yaml", &scenario).run(&SIMULATE);
    assert!(ran.has_line(&["5.41s", "CLOSED", "->", "OPEN"]), "{}{}", ran.answer, ran.remarks);
}

#[test]
fn the_timeline_can_be_drawn() {
    let folder = folder(OUTAGE);
    let ran = folder.run(&[&SIMULATE[..], &["--svg", "out.svg"]].concat());
    assert_eq!(ran.status, 0, "{}", ran.remarks);
    let svg = folder.read("out.svg");
    assert!(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""));
    assert!(svg.trim_end().ends_with("</svg>"));
    for part in ["failure rate", "refused", "CLOSED", "20s"] {
        assert!(svg.contains(part), "{part}");
    }
}

#[test]
fn what_is_wrong_with_a_scenario_is_told() {
    for (scenario, wanted) in [
        (
            OUTAGE.replace("pay", "play"),
            "circuitbreaker 'play' is not declared; did you mean 'pay'?",
        ),
        (
            OUTAGE.replace("{ circuit_breaker: pay }", "nobody"),
            "no pattern declares an instance 'nobody'",
        ),
        (
            OUTAGE.replace("rate: 10\n", "rate: -1\n"),
            "outage.yaml:4: rate = -1: expected a number from 0",
        ),
        (
            OUTAGE.replace("stack", "stak"),
            "outage.yaml:2: unknown key `stak`; did you mean `stack`?",
        ),
        ("- a".to_owned(), "outage.yaml:1: expected keys and values"),
        ("a: [".to_owned(), "no valid YAML"),
    ] {
        let ran = folder(&scenario).run(&SIMULATE);
        assert_eq!((ran.status, ran.answer.as_str()), (1, ""), "{scenario}");
        assert!(ran.remarks.contains(wanted), "{wanted:?} is not in: {}", ran.remarks);
    }
}

#[test]
fn a_retry_without_end_is_refused() {
    let folder = Folder::new()
        .with("r.yaml", "retry.instances.pay: { max_attempts: 9000000, wait_duration: 0 }")
        .with(
            "outage.yaml",
            "{ stack: pay, duration: 1s, rate: 1, backend: [{ error_rate: 100 }] }",
        );
    let ran = folder.run(&SIMULATE);
    assert_eq!(ran.status, 1);
    assert!(ran.remarks.contains("with up to 9000000 attempts each"), "{}", ran.remarks);
}
