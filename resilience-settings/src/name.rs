use std::fmt;

/// The longest instance name, in characters.
pub const MAX_NAME_CHARS: usize = 200;

/// The form in which names and keys are compared: lower case, without `-`, `_`, `.` and spaces.
///
/// `paymentCb`, `payment-cb`, `payment_cb` and `PAYMENTCB` are one name.
pub fn canonical(text: &str) -> String {
    letters(text).collect()
}

/// Whether two texts have one [`canonical`] form. Where many are compared with one, this costs no
/// allocation for each.
pub fn same_name(a: &str, b: &str) -> bool {
    letters(a).eq(letters(b))
}

/// The characters that tell names apart.
fn letters(text: &str) -> impl Iterator<Item = char> {
    text.chars().filter(|c| !matches!(c, '-' | '_' | '.' | ' ')).flat_map(char::to_lowercase)
}

/// The `snake_case` form of a camelCase, `PascalCase` or kebab-case identifier.
pub fn snake_case(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let mut out = String::with_capacity(text.len() + 4);
    for (i, &c) in chars.iter().enumerate() {
        if c == '-' || c == '_' {
            out.push('_');
            continue;
        }
        let after_lower = i > 0 && (chars[i - 1].is_lowercase() || chars[i - 1].is_ascii_digit());
        let starts_word = i > 0
            && chars[i - 1].is_uppercase()
            && chars.get(i + 1).is_some_and(|next| next.is_lowercase());
        if c.is_uppercase() && (after_lower || starts_word) {
            out.push('_');
        }
        out.extend(c.to_lowercase());
    }
    out
}

/// The candidate most like `text`, if one is near enough to be what was meant.
pub fn nearest<'a>(text: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let wanted: Vec<char> = letters(text).collect();
    let limit = (wanted.len() / 3).max(1);
    candidates
        .into_iter()
        .map(|candidate| (letters(candidate).collect::<Vec<char>>(), candidate))
        // Every character more or less is an edit.
        .filter(|(letters, _)| letters.len().abs_diff(wanted.len()) <= limit)
        .map(|(letters, candidate)| (distance(&wanted, &letters), candidate))
        .filter(|(distance, _)| *distance <= limit)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Edits (insert, delete, replace, swap of neighbours) that turn `a` into `b`.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut before_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let replaced = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = replaced.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before_last[j - 2] + 1);
            }
        }
        before_last = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

/// Why an instance name was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NameError {
    /// The name has no characters.
    Empty,
    /// The name has more than [`MAX_NAME_CHARS`] characters.
    TooLong,
    /// The name has a control character.
    ControlCharacter,
    /// The name has nothing but separators, which do not count: all such names would be one.
    OnlySeparators,
}

impl fmt::Display for NameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NameError::Empty => f.write_str("an instance name must not be empty"),
            NameError::TooLong => {
                write!(f, "an instance name has at most {MAX_NAME_CHARS} characters")
            }
            NameError::ControlCharacter => {
                f.write_str("an instance name must not contain control characters")
            }
            NameError::OnlySeparators => f.write_str(
                "an instance name needs a character that is no separator (`-`, `_`, `.`, space)",
            ),
        }
    }
}

impl std::error::Error for NameError {}

/// Checks an instance name: 1 to 200 characters, none of them a control character and not all of
/// them separators.
///
/// # Errors
///
/// Says which of the rules the name breaks.
pub fn check_name(name: &str) -> Result<(), NameError> {
    if name.is_empty() {
        Err(NameError::Empty)
    } else if name.chars().any(char::is_control) {
        Err(NameError::ControlCharacter)
    } else if name.chars().nth(MAX_NAME_CHARS).is_some() {
        Err(NameError::TooLong)
    } else if letters(name).next().is_none() {
        Err(NameError::OnlySeparators)
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_one_name_are_one_name() {
        for text in ["paymentCb", "payment-cb", "payment_cb", "PAYMENTCB", "payment.cb"] {
            assert_eq!(canonical(text), "paymentcb");
            assert!(same_name(text, "paymentCb"));
        }
        assert!(!same_name("paymentCb", "payment"));
    }

    #[test]
    fn identifiers_become_snake_case() {
        for (from, to) in [
            ("CardDeclined", "card_declined"),
            ("HTTPStatus", "http_status"),
            ("slidingWindowSize", "sliding_window_size"),
            ("max-attempts", "max_attempts"),
            ("Http5xx", "http5xx"),
            ("IoError", "io_error"),
        ] {
            assert_eq!(snake_case(from), to);
        }
    }

    #[test]
    fn the_nearest_name_is_offered_only_when_near() {
        let keys = ["max_attempts", "wait_duration", "sliding_window_size"];
        assert_eq!(nearest("max_attemps", keys), Some("max_attempts"));
        assert_eq!(nearest("slidingWindwoSize", keys), Some("sliding_window_size"));
        assert_eq!(nearest("colour", keys), None);
    }

    #[test]
    fn names_are_bounded() {
        assert_eq!(check_name("a/b ü.c"), Ok(()));
        assert_eq!(check_name(""), Err(NameError::Empty));
        assert_eq!(check_name("a\nb"), Err(NameError::ControlCharacter));
        assert_eq!(check_name(&"ü".repeat(200)), Ok(()));
        assert_eq!(check_name(&"x".repeat(201)), Err(NameError::TooLong));
    }

    #[test]
    fn a_name_is_more_than_separators() {
        for name in ["-", "_", ".", " ", "-_. "] {
            assert_eq!(check_name(name), Err(NameError::OnlySeparators), "{name:?}");
        }
        assert_eq!(check_name("-a-"), Ok(()));
        assert_eq!(check_name("/"), Ok(()));
    }
}
