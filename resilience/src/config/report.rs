use super::{
    ConfigError, Problem,
    source::{Source, Spot},
};

/// What a load has to say: every problem and every warning, gathered before anything is decided.
#[derive(Debug, Default)]
pub(crate) struct Report {
    problems: Vec<((usize, usize), Problem)>,
    warnings: Vec<String>,
    without_effect: Vec<WithoutEffect>,
}

#[derive(Debug)]
struct WithoutEffect {
    key: String,
    reason: &'static str,
    places: Vec<String>,
}

impl Report {
    /// Adds a problem of a source.
    pub(crate) fn problem(&mut self, source: &Source, line: Option<usize>, problem: Problem) {
        self.problem_at(&source.spot(line), problem);
    }

    /// Adds a problem with its place.
    pub(crate) fn problem_at(&mut self, spot: &Spot, problem: Problem) {
        self.problems.push((spot.order, problem.place(&spot.place)));
    }

    pub(crate) fn warn(&mut self, warning: String) {
        self.warnings.push(warning);
    }

    /// Notes a key that is read without complaint and does nothing.
    pub(crate) fn without_effect(&mut self, key: &str, reason: &'static str, place: String) {
        match self.without_effect.iter_mut().find(|noted| noted.key == key) {
            Some(noted) => noted.places.push(place),
            None => self.without_effect.push(WithoutEffect {
                key: key.to_owned(),
                reason,
                places: vec![place],
            }),
        }
    }

    pub(crate) fn has_problems(&self) -> bool {
        !self.problems.is_empty()
    }

    /// The warnings, or all problems in the order of sources and lines.
    pub(crate) fn finish(mut self) -> Result<Vec<String>, ConfigError> {
        if self.has_problems() {
            self.problems.sort_by_key(|(order, _)| *order);
            return Err(ConfigError::new(self.problems.into_iter().map(|(_, p)| p).collect()));
        }
        if !self.without_effect.is_empty() {
            let keys: Vec<String> = self.without_effect.iter().map(WithoutEffect::text).collect();
            self.warnings.insert(0, format!("settings without effect: {}", keys.join("; ")));
        }
        Ok(self.warnings)
    }
}

impl WithoutEffect {
    /// `register_health_indicator` of a hundred instances is one remark, not a hundred.
    fn text(&self) -> String {
        const SHOWN: usize = 3;
        let places = self.places[..self.places.len().min(SHOWN)].join(", ");
        let more = match self.places.len().saturating_sub(SHOWN) {
            0 => String::new(),
            n => format!(" and {n} more"),
        };
        format!("`{}` at {places}{more} ({})", self.key, self.reason)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn problems_come_in_the_order_of_sources_and_lines() {
        let mut report = Report::default();
        let (first, second) = (Source::code(0), Source::code(1));
        report.problem_at(&Spot::environment("X"), Problem::new("last"));
        report.problem(&second, Some(1), Problem::new("third"));
        report.problem(&first, Some(9), Problem::new("second"));
        report.problem(&first, Some(2), Problem::new("first"));
        let error = report.finish().unwrap_err();
        let texts: Vec<&str> = error.problems().iter().map(|p| p.message.as_str()).collect();
        assert_eq!(texts, ["first", "second", "third", "last"]);
    }

    #[test]
    fn keys_without_effect_make_one_warning() {
        let mut report = Report::default();
        for line in 1..=5 {
            report.without_effect("a", "why", format!("f:{line}"));
        }
        report.without_effect("b", "because", "f:9".into());
        assert_eq!(
            report.finish().unwrap(),
            [
                "settings without effect: `a` at f:1, f:2, f:3 and 2 more (why); `b` at f:9 (because)"
            ]
        );
    }
}
