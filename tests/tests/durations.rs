//! How durations are read, by the table in `golden/durations.md`.

use resilience::config::{Config, Format};
use resilience_tests::{config::error_of, golden::rows, soundness};

#[test]
fn durations_are_read_and_refused_as_the_table_says() {
    for [written, nanoseconds, refused] in rows(include_str!("../golden/durations.md")) {
        let read = soundness::duration(&written).map(|nanos| nanos.to_string());
        let wanted = if refused.is_empty() { Ok(nanoseconds) } else { Err(refused) };
        assert_eq!(read.map_err(|error| error.to_string()), wanted, "{written:?}");
    }
}

#[test]
fn a_file_reads_durations_by_the_same_table() {
    let key = "retry.instances.a.wait_duration";
    for [written, nanoseconds, refused] in rows(include_str!("../golden/durations.md")) {
        let text = format!("{key}: '{written}'");
        if refused.is_empty() {
            let config = Config::builder().env(false).text(text, Format::Yaml).load();
            let effective = config.map(|config| config.effective()).unwrap_or_default();
            let found = effective.into_iter().find(|(path, ..)| path == key);
            let value = found.map(|(_, value, _)| soundness::duration(&value.to_string()));
            assert_eq!(value, Some(Ok(nanoseconds.parse().unwrap_or_default())), "{written:?}");
        } else {
            let error = error_of(&text, Format::Yaml);
            assert!(error.starts_with(&format!("<text>:1: {key} = {written}: ")), "{error}");
            assert!(error.ends_with(&refused), "{error}");
        }
    }
}
