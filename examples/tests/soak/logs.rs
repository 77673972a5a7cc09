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

/// What a process says after it was told to end for the last time, if it has kept what it should have given
/// back.
pub(crate) fn kept(log: &str) -> impl Iterator<Item = &str> {
    let end = log.rfind(" stops\n").map_or("", |end| &log[end..]);
    end.lines().filter(|line| line.contains("not given back"))
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

    #[test]
    fn what_is_kept_counts_at_the_last_end_only() {
        let kept = |log: &str| super::kept(log).count();
        let (end, bad) =
            ("INFO x: order stops\n", "WARN x: order ends, and y are not given back\n");
        assert_eq!(kept(&format!("{end}{bad}INFO\n{end}{bad}")), 1);
        assert_eq!(kept(&format!("{end}{bad}INFO\n{end}")), 0);
    }
}
