use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A time in RFC 3339, in UTC and to the millisecond.
pub(super) fn rfc3339(time: SystemTime) -> String {
    humantime::format_rfc3339_millis(time).to_string()
}

/// The same of a time on an instance's clock.
pub(super) fn rfc3339_of_nanos(nanos: u64) -> String {
    rfc3339(UNIX_EPOCH + Duration::from_nanos(nanos))
}

pub(super) fn millis(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1000.0
}
