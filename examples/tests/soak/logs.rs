//! What must not be in a log.

use crate::{
    process::{SECRET, TOKEN},
    traffic::names_a_user,
};

/// The lines that tell of a panic or of an error inside, or show a user or a secret.
pub(crate) fn unfit(log: &str) -> impl Iterator<Item = &str> {
    log.lines().filter(|line| {
        // The time has digits of its own.
        let text = line.split_once(' ').map_or(*line, |(_, text)| text);
        line.contains("panicked")
            || text.trim_start().starts_with("ERROR")
            || [SECRET, TOKEN].iter().any(|secret| line.contains(secret))
            || names_a_user(text)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panics_errors_secrets_and_users_are_found_and_other_lines_are_not() {
        for bad in [
            "thread 'main' panicked at src/x.rs:1:2:".to_owned(),
            "2026-12-01T00:17:06.727123Z ERROR examples::web: it failed".to_owned(),
            format!("2026-12-01T00:17:06.1Z  INFO examples: with {SECRET}"),
            format!("2026-12-01T00:17:06.1Z  INFO examples: with {TOKEN}"),
            "2026-12-01T00:17:06.1Z  INFO examples: user=727123".to_owned(),
            "2026-12-01T00:17:06.1Z  INFO examples: GET /internal/user/729999/role".to_owned(),
        ] {
            assert_eq!(unfit(&bad).count(), 1, "{bad}");
        }
        for good in [
            "2026-12-01T00:17:06.727123Z  WARN examples::web: it may fail",
            "2026-12-01T00:17:06.1Z  INFO examples: order-727123aa",
            "2026-12-01T00:17:06.1Z  INFO examples: took 727123ns, 1727123",
        ] {
            assert_eq!(unfit(good).count(), 0, "{good}");
        }
    }
}
