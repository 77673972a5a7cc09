//! What is questionable in a file is told, and what Spring applications have as a matter of course is not.

use resilience::config::{Format, Severity};
use resilience_tests::config::load;

#[test]
fn a_spring_applications_file_is_not_questioned_beyond_what_does_not_carry_over() {
    let config = load(include_str!("config/application.yml"), Format::Yaml).unwrap();
    let report = config.report();
    let questioned: Vec<_> = report
        .findings()
        .iter()
        .filter(|finding| finding.severity > Severity::Hint)
        .filter(|finding| !["reading", "unknown_kind"].contains(&finding.code))
        .collect();
    assert!(questioned.is_empty(), "{questioned:#?}");
}

#[test]
fn a_report_shows_a_line_for_each_finding() {
    let text = "retry.instances.pay: { randomized_wait_factor: 0.2 }";
    let report = load(text, Format::Yaml).unwrap().report();
    assert_eq!(
        report.to_string(),
        "warning: <text>:1: retry.instances.pay.randomized_wait_factor = 0.2: does nothing without \
         `enable_randomized_wait: true`; write that too, or leave this out [without_switch]\n"
    );
    assert_eq!(report.worst(), Some(Severity::Warning));
}
