//! Documents that apply under some profiles only.

#![allow(clippy::unwrap_used)] // helpers of tests may unwrap as the tests themselves do

use resilience::config::{Config, ConfigBuilder, Format};
use resilience_tests::config;

const YAML: &str = "
retry.instances.a.max_attempts: 1
---
spring.config.activate.on-profile: prod & (eu | us)
retry.instances.a.max_attempts: 2
---
spring:
  config:
    activate:
      on-profile: [test, dev]
retry.instances.a.max_attempts: 3
---
spring.config.activate.on-profile: '!prod & !test & !dev & !old'
retry.instances.a.wait_duration: 9s
---
spring.profiles: old
retry.instances.a.max_attempts: 4
";

fn value(builder: ConfigBuilder, key: &str) -> String {
    config::value(&builder.load().unwrap(), &format!("retry.instances.a.{key}"))
}

#[test]
fn a_document_applies_under_its_profiles_only() {
    for (profiles, attempts, wait) in [
        (&[][..], "1", "9s"),
        (&["prod"], "1", "500ms"),
        (&["prod", "eu"], "2", "500ms"),
        (&["us", "prod"], "2", "500ms"),
        (&["dev"], "3", "500ms"),
        (&["prod", "eu", "test"], "3", "500ms"),
        (&["old"], "4", "500ms"),
        (&["other"], "1", "9s"),
    ] {
        let mut builder = Config::builder().env(false).text(YAML, Format::Yaml);
        for profile in profiles {
            builder = builder.profile(*profile);
        }
        assert_eq!(value(builder.clone(), "max_attempts"), attempts, "{profiles:?}");
        assert_eq!(value(builder, "wait_duration"), wait, "{profiles:?}");
    }
}

#[test]
fn the_argument_goes_before_our_variable_and_that_before_springs() {
    let both = [("SPRING_PROFILES_ACTIVE", "old"), ("RESILIENCE_PROFILES_ACTIVE", "prod, eu")];
    let file = || Config::builder().text(YAML, Format::Yaml);
    assert_eq!(value(file().vars(both).profile("dev"), "max_attempts"), "3");
    assert_eq!(value(file().vars(both), "max_attempts"), "2");
    assert_eq!(value(file().vars([both[0]]), "max_attempts"), "4");
    assert_eq!(value(file().vars([both[0]]).env(false), "max_attempts"), "1");
}

#[test]
fn a_file_may_name_its_active_profiles_itself() {
    let text = format!("spring.profiles.active: ${{P:dev}}\n{YAML}");
    let file = || Config::builder().text(text.clone(), Format::Yaml);
    assert_eq!(value(file().env(false), "max_attempts"), "3");
    assert_eq!(value(file().vars([("P", "old")]), "max_attempts"), "4");
    assert_eq!(value(file().env(false).profile("old"), "max_attempts"), "4");
}

#[test]
fn properties_have_documents_too() {
    let text = "\
retry.instances.a.max_attempts=1
#---
spring.config.activate.on-profile=prod
retry.instances.a.max_attempts=2
#---
spring.config.activate.on-profile[0]=test
spring.config.activate.on-profile[1]=dev
retry.instances.a.max_attempts=3
";
    for (profile, attempts) in [("prod", "2"), ("dev", "3"), ("other", "1")] {
        let builder = Config::builder().env(false).text(text, Format::Properties);
        assert_eq!(value(builder.profile(profile), "max_attempts"), attempts, "{profile}");
    }
}

#[test]
fn a_malformed_condition_is_an_error() {
    let text = "retry.instances.a: {}\n---\nspring.config.activate.on-profile: a & b | c\n";
    assert_eq!(
        config::error_of(text, Format::Yaml),
        "<text>:3: spring.config.activate.on-profile = a & b | c: \
         `&` and `|` side by side need parentheses"
    );
}

#[test]
fn an_import_is_not_followed_and_said_so() {
    let text = "spring.config.import: [optional:file:more.yml]\nretry.instances.a: {}\n";
    assert_eq!(
        config::load(text, Format::Yaml).unwrap().warnings(),
        [
            "<text>: spring.config.import of `optional:file:more.yml` is not followed; give the file \
          to the loader"
        ]
    );
}

#[test]
fn a_document_for_a_cloud_platform_is_left_out_with_a_warning() {
    let text = "retry.instances.a: {}\n---\nspring.config.activate.on-cloud-platform: kubernetes\n\
                retry.instances.a.max_attempts: 9\n";
    let builder = Config::builder().env(false).text(text, Format::Yaml);
    assert_eq!(value(builder.clone(), "max_attempts"), "3");
    assert_eq!(
        builder.load().unwrap().warnings(),
        ["<text>:3: a document for the cloud platform `kubernetes` is left out; \
          choose it by a profile instead"]
    );
}
