//! Durations as people read them.

use std::time::Duration;

use resilience_settings::format_duration;

/// A duration in its usual units: `3m22.5s`, `250ms`.
pub(super) fn readable(duration: Duration) -> String {
    let nanos = duration.subsec_nanos();
    if nanos == 0 || duration < Duration::from_secs(1) {
        return format_duration(duration);
    }
    let whole = duration.as_secs() / 60 * 60;
    let minutes =
        if whole == 0 { String::new() } else { format_duration(Duration::from_secs(whole)) };
    let rest = format!("{}.{nanos:09}", duration.as_secs() % 60);
    format!("{minutes}{}s", rest.trim_end_matches('0'))
}

#[cfg(test)]
mod tests {
    use resilience_settings::parse_duration;

    use super::*;

    #[test]
    fn a_duration_is_read_back_as_what_it_was() {
        for (nanos, text) in [
            (0, "0ms"),
            (250_000_000, "250ms"),
            (10_653_000_000, "10.653s"),
            (202_500_000_000, "3m22.5s"),
            (3_600_000_000_000, "1h"),
            (3_600_050_000_000, "1h0.05s"),
        ] {
            let duration = Duration::from_nanos(nanos);
            assert_eq!(readable(duration), text);
            assert_eq!(parse_duration(text), Ok(duration), "{text}");
        }
    }
}
