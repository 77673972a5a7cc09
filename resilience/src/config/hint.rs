use resilience_settings::nearest;

/// Names beyond this length are no slips of the pen, and comparing them costs time.
const MAX_BYTES: usize = 250;

/// `; did you mean `x`?`, or nothing when no candidate is near.
pub(crate) fn did_you_mean<'a>(
    text: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<String> {
    if text.len() > MAX_BYTES {
        return None;
    }
    nearest(text, candidates).map(|near| format!("; did you mean `{near}`?"))
}

/// The nearest candidate as a question, or else all of them.
pub(crate) fn nearest_or_all(text: &str, candidates: &[&str]) -> String {
    did_you_mean(text, candidates.iter().copied())
        .unwrap_or_else(|| format!("; known are {}", candidates.join(", ")))
}
