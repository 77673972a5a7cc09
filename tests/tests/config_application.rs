//! What the program is called in its metrics, and who may say so.

#![allow(clippy::unwrap_used)] // helpers of tests may unwrap as the tests themselves do

use resilience::{
    Config, Resilience,
    config::{ConfigBuilder, Format},
};

const SPRING: &str = "
spring:
  application: { name: '${app.title} service' }
app.title: Order
resilience4j.retry.instances.payment: {}
";

const VARIABLE: (&str, &str) = ("RESILIENCE_APPLICATION", " orders ");

fn application(builder: ConfigBuilder) -> String {
    let registry = Resilience::from_config(builder.load().unwrap()).unwrap();
    registry.application().to_string()
}

fn errors(builder: ConfigBuilder) -> String {
    builder.load().unwrap_err().to_string()
}

fn yaml(text: &str) -> ConfigBuilder {
    Config::builder().env(false).text(text, Format::Yaml)
}

#[test]
fn code_goes_before_the_environment_and_that_before_a_spring_file() {
    let spring = || Config::builder().text(SPRING, Format::Yaml);
    assert_eq!(application(spring().env(false)), "Order service");
    assert_eq!(application(spring().vars([VARIABLE])), "orders");
    assert_eq!(application(spring().vars([VARIABLE]).application("billing")), "billing");
}

#[test]
fn the_executable_names_the_program_where_nobody_else_does() {
    let stem = std::env::current_exe().unwrap();
    let stem = stem.file_stem().unwrap().to_str().unwrap();
    assert_eq!(application(yaml("")), stem);
    assert_eq!(Config::default().application(), None);
}

#[test]
fn a_spring_application_may_be_named_in_one_line_and_by_a_later_document() {
    let flat = "spring.application.name=orders\nresilience4j.retry.instances.payment.enabled=true";
    let properties = Config::builder().env(false).text(flat, Format::Properties);
    assert_eq!(application(properties), "orders");
    let documents = "
spring.application.name: orders
retry.instances.payment: {}
---
spring: { config.activate.on-profile: eu, application.name: orders-eu }
";
    assert_eq!(application(yaml(documents)), "orders");
    assert_eq!(application(yaml(documents).profile("eu")), "orders-eu");
}

#[test]
fn a_name_whose_placeholder_has_no_value_here_is_left_out_with_a_warning() {
    let config = yaml("spring.application.name: ${nowhere}\nretry.instances.a: {}").load().unwrap();
    assert_eq!(config.application(), None);
    let [warning] = config.warnings() else { panic!("{:?}", config.warnings()) };
    assert!(warning.starts_with("<text>:1: spring.application.name is not read:"), "{warning}");
}

#[test]
fn what_cannot_be_a_name_is_an_error_wherever_it_stands() {
    let expected = "expected 1 to 200 characters without control characters";
    let long = "x".repeat(201);
    assert_eq!(
        errors(yaml("").application("a\nb")),
        format!("code: application = a\\nb: {expected}")
    );
    assert!(errors(yaml("").application(long)).ends_with(expected));
    assert_eq!(
        errors(Config::builder().vars([("RESILIENCE_APPLICATION", " ")])),
        format!("environment RESILIENCE_APPLICATION: application = : {expected}")
    );
    assert_eq!(
        errors(yaml("retry: {}\nspring.application.name: ''")),
        format!("<text>:2: spring.application.name = : {expected}")
    );
    assert_eq!(application(yaml("").application("ü".repeat(200))), "ü".repeat(200));
}
