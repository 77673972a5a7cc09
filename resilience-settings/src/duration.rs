use std::{fmt, time::Duration};

/// Why a text is no duration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DurationError {
    /// Nothing was written.
    Empty,
    /// The duration is below zero.
    Negative,
    /// A number is missing or malformed.
    Number,
    /// The unit is not one of `ns us ms s m h d`.
    Unit(String),
    /// Units of a compound duration must come largest first, each once.
    Order,
    /// The duration is longer than 2^63 - 1 nanoseconds (292 years).
    TooLong,
}

impl fmt::Display for DurationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DurationError::Empty => f.write_str("it is empty"),
            DurationError::Negative => f.write_str("it is negative"),
            DurationError::Number => f.write_str("a number is missing or malformed"),
            DurationError::Unit(unit) if unit.is_empty() => {
                f.write_str("a unit is missing (ns, us, ms, s, m, h, d)")
            }
            DurationError::Unit(unit) => {
                write!(f, "`{unit}` is no unit (ns, us, ms, s, m, h, d)")
            }
            DurationError::Order => f.write_str("units must come largest first, each once"),
            DurationError::TooLong => f.write_str("it is longer than 292 years"),
        }
    }
}

impl std::error::Error for DurationError {}

const NANOS_MAX: u128 = i64::MAX as u128;
const UNITS: [(&str, u128); 8] = [
    ("ns", 1),
    ("us", 1_000),
    ("µs", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60 * 1_000_000_000),
    ("h", 3_600 * 1_000_000_000),
    ("d", 86_400 * 1_000_000_000),
];

/// Reads a duration: `500ms`, `1.5s`, `1m30s`, ISO-8601 `PT1M30S` in any case, or a bare whole
/// number of milliseconds as Spring reads it.
///
/// # Errors
///
/// Says what is wrong with the text; a duration beyond 292 years is refused, never wrapped.
pub fn parse_duration(text: &str) -> Result<Duration, DurationError> {
    let text = text.trim();
    if text.is_empty() {
        return Err(DurationError::Empty);
    }
    if text.starts_with('-') {
        return Err(DurationError::Negative);
    }
    let text = text.strip_prefix('+').unwrap_or(text);
    if text.bytes().all(|b| b.is_ascii_digit()) {
        return to_duration(scaled(text, 1_000_000)?);
    }
    let lower = text.to_lowercase();
    if let Some(iso) = lower.strip_prefix('p') { parse_iso(iso) } else { parse_units(&lower) }
}

fn parse_units(mut rest: &str) -> Result<Duration, DurationError> {
    let mut total = 0_u128;
    let mut last_unit = u128::MAX;
    while !rest.is_empty() {
        let digits = number_length(rest);
        let (number, tail) = rest.split_at(digits);
        let tail = tail.trim_start();
        let unit_length = tail
            .find(|c: char| c.is_ascii_digit() || c == '.' || c.is_whitespace())
            .unwrap_or(tail.len());
        let (unit, tail) = tail.split_at(unit_length);
        if number.is_empty() {
            return Err(DurationError::Number);
        }
        let (_, nanos) = *UNITS
            .iter()
            .find(|(name, _)| *name == unit)
            .ok_or_else(|| DurationError::Unit(unit.to_owned()))?;
        if nanos >= last_unit {
            return Err(DurationError::Order);
        }
        last_unit = nanos;
        total += scaled(number, nanos)?;
        rest = tail.trim_start();
    }
    to_duration(total)
}

/// `rest` is what follows the `p`, in lower case: `1dt2h3m4.5s`.
fn parse_iso(rest: &str) -> Result<Duration, DurationError> {
    let (date, time) = match rest.split_once('t') {
        Some((_, "")) => return Err(DurationError::Number),
        Some((date, time)) => (date, time),
        None => (rest, ""),
    };
    if date.is_empty() && time.is_empty() {
        return Err(DurationError::Number);
    }
    let mut total = 0_u128;
    for (mut part, units) in [(date, &["d"][..]), (time, &["h", "m", "s"][..])] {
        let mut next = 0;
        while !part.is_empty() {
            if part.starts_with('-') {
                return Err(DurationError::Negative);
            }
            let digits = number_length(part);
            let (number, tail) = part.split_at(digits);
            let Some(unit) = tail.chars().next() else { return Err(DurationError::Number) };
            let (unit, tail) = tail.split_at(unit.len_utf8());
            let position = units
                .iter()
                .position(|name| *name == unit)
                .ok_or_else(|| DurationError::Unit(unit.to_owned()))?;
            if position < next {
                return Err(DurationError::Order);
            }
            next = position + 1;
            let (_, nanos) = *UNITS
                .iter()
                .find(|(name, _)| *name == unit)
                .ok_or_else(|| DurationError::Unit(unit.to_owned()))?;
            total += scaled(number, nanos)?;
            part = tail;
        }
    }
    to_duration(total)
}

fn number_length(text: &str) -> usize {
    text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len())
}

/// `number * unit` in nanoseconds; digits below a nanosecond are cut off.
fn scaled(number: &str, unit: u128) -> Result<u128, DurationError> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    if !digits(whole) || !digits(fraction) || (whole.is_empty() && fraction.is_empty()) {
        return Err(DurationError::Number);
    }
    let whole = whole.trim_start_matches('0');
    if whole.len() > 19 {
        return Err(DurationError::TooLong);
    }
    let whole: u128 = if whole.is_empty() { 0 } else { whole.parse().unwrap_or(u128::MAX) };
    // 18 digits are below a nanosecond for every unit up to a day.
    let fraction = &fraction[..fraction.len().min(18)];
    let numerator: u128 = if fraction.is_empty() { 0 } else { fraction.parse().unwrap_or(0) };
    let nanos = whole.checked_mul(unit).ok_or(DurationError::TooLong)?
        + numerator * unit / 10_u128.pow(u32::try_from(fraction.len()).unwrap_or(18));
    if nanos > NANOS_MAX { Err(DurationError::TooLong) } else { Ok(nanos) }
}

fn to_duration(nanos: u128) -> Result<Duration, DurationError> {
    if nanos > NANOS_MAX {
        return Err(DurationError::TooLong);
    }
    u64::try_from(nanos).map(Duration::from_nanos).map_err(|_| DurationError::TooLong)
}

/// Writes a duration in the shortest form that [`parse_duration`] reads back exactly.
pub fn format_duration(duration: Duration) -> String {
    let nanos = duration.as_nanos();
    if nanos == 0 {
        return "0ms".into();
    }
    let seconds = duration.as_secs();
    if nanos.is_multiple_of(1_000_000_000) {
        let mut out = String::new();
        for (unit, length) in [("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1)] {
            let above = match unit {
                "h" => 86_400,
                "m" => 3_600,
                "s" => 60,
                _ => u64::MAX,
            };
            let n = seconds % above / length;
            if n > 0 {
                out += &n.to_string();
                out += unit;
            }
        }
        return out;
    }
    for (unit, length) in [("ms", 1_000_000), ("us", 1_000)] {
        if nanos.is_multiple_of(length) {
            return format!("{}{unit}", nanos / length);
        }
    }
    format!("{nanos}ns")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_in_every_form() {
        let ms = Duration::from_millis;
        for (text, expected) in [
            ("500ms", ms(500)),
            ("2s", ms(2_000)),
            ("1m", ms(60_000)),
            ("1h30m", ms(5_400_000)),
            ("1m30s", ms(90_000)),
            ("1m 30s", ms(90_000)),
            ("1 d", ms(86_400_000)),
            ("PT5S", ms(5_000)),
            ("pt1m30.5s", ms(90_500)),
            ("P1DT2H", ms(93_600_000)),
            ("500", ms(500)),
            ("0", ms(0)),
            ("0ms", ms(0)),
            ("1.5s", ms(1_500)),
            (".5s", ms(500)),
            ("1.000000001s", Duration::from_nanos(1_000_000_001)),
            ("250us", Duration::from_micros(250)),
            ("500ns", Duration::from_nanos(500)),
            ("2S", ms(2_000)),
        ] {
            assert_eq!(parse_duration(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn what_is_no_duration_is_refused_with_the_reason() {
        for (text, expected) in [
            ("", DurationError::Empty),
            ("-1s", DurationError::Negative),
            ("PT-1S", DurationError::Negative),
            ("99999999999h", DurationError::TooLong),
            ("99999999999999999999999999", DurationError::TooLong),
            ("5 parsecs", DurationError::Unit("parsecs".into())),
            ("1.5", DurationError::Unit(String::new())),
            ("s", DurationError::Number),
            ("1..5s", DurationError::Number),
            ("30s1m", DurationError::Order),
            ("1s1s", DurationError::Order),
            ("PT", DurationError::Number),
            ("P", DurationError::Number),
            ("PT1S1H", DurationError::Order),
        ] {
            assert_eq!(parse_duration(text), Err(expected), "{text}");
        }
    }

    #[test]
    fn what_is_written_is_read_back() {
        for nanos in [0, 1, 999, 1_000, 1_500_000, 90_000_000_000, 86_400_000_000_000, u64::MAX / 4]
        {
            let duration = Duration::from_nanos(nanos);
            assert_eq!(parse_duration(&format_duration(duration)), Ok(duration));
        }
        assert_eq!(format_duration(Duration::from_secs(90)), "1m30s");
    }
}
