use std::{cell::Cell, fmt};

use resilience_settings::nearest;

/// How many pairs of characters may be compared in search of what was meant. A person's file needs
/// a fraction of it; one with thousands of mistakes gets its later ones without hints.
const MAX_WORK: usize = 4_000_000;

/// Finds what may have been meant, for as long as the work stays bounded.
#[derive(Debug)]
pub struct Hints {
    work_left: Cell<usize>,
}

impl Default for Hints {
    fn default() -> Self {
        Self { work_left: Cell::new(MAX_WORK) }
    }
}

impl Hints {
    /// The nearest candidate, if one is near and there is work left to find it.
    pub fn nearest<'a>(
        &self,
        text: &str,
        candidates: impl IntoIterator<Item = &'a str>,
    ) -> Option<&'a str> {
        let affordable = candidates.into_iter().map_while(|candidate| {
            let work = text.len().max(1) * candidate.len().max(1);
            self.work_left.set(self.work_left.get().checked_sub(work)?);
            Some(candidate)
        });
        nearest(text, affordable)
    }

    /// `; did you mean `x`?`, or nothing when no candidate is near.
    pub fn did_you_mean<'a>(
        &self,
        text: &str,
        candidates: impl IntoIterator<Item = &'a str>,
    ) -> Option<String> {
        self.nearest(text, candidates).map(|near| question(format_args!("`{near}`")))
    }

    /// The nearest candidate as a question, or else all of them.
    pub(crate) fn nearest_or_all(&self, text: &str, candidates: &[&str]) -> String {
        self.did_you_mean(text, candidates.iter().copied())
            .unwrap_or_else(|| format!("; known are {}", candidates.join(", ")))
    }
}

/// `; did you mean `x`?`, for a single mistake.
pub(crate) fn did_you_mean<'a>(
    text: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<String> {
    Hints::default().did_you_mean(text, candidates)
}

/// The question at the end of a message; the name stands there as the message shows names.
pub fn question(near: impl fmt::Display) -> String {
    format!("; did you mean {near}?")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hints_end_when_their_work_is_used_up() {
        let hints = Hints::default();
        let known = "x".repeat(100);
        let wrong = "y".repeat(100);
        assert_eq!(hints.nearest("retri", ["retry"]), Some("retry"));
        assert_eq!(hints.nearest(&wrong, std::iter::repeat_n(known.as_str(), 1_000_000)), None);
        assert_eq!(hints.nearest(&known, [known.as_str()]), None);
    }
}
