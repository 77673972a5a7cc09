use std::collections::HashMap;

use crate::{
    ConfigError, Problem,
    hint::Hints,
    source::{Source, Spot},
};

/// What a load has to say: every problem and every warning, gathered before anything is decided.
#[derive(Debug, Default)]
pub(crate) struct Complaints {
    problems: Vec<((usize, usize), Problem)>,
    /// What does not fit together.
    contradictions: Vec<Problem>,
    warnings: Vec<String>,
    without_effect: Remarks,
    renamed: Remarks,
    /// What all messages together may spend on finding what was meant.
    pub(crate) hints: Hints,
}

/// Remarks about keys that many entries may have: a hundred instances make one remark.
#[derive(Debug, Default)]
struct Remarks {
    list: Vec<Remark>,
    index: HashMap<String, usize>,
}

#[derive(Debug)]
struct Remark {
    key: String,
    text: String,
    places: Vec<String>,
}

impl Complaints {
    /// Adds a problem of a source.
    pub(crate) fn problem(&mut self, source: &Source, line: Option<usize>, problem: Problem) {
        self.problem_at(&source.spot(line), problem);
    }

    /// Adds a problem with its place.
    pub(crate) fn problem_at(&mut self, spot: &Spot, problem: Problem) {
        self.problems.push((spot.order, problem.place(&spot.place)));
    }

    /// Adds what is wrong between the settings of an entry, after all sources, unless one of its
    /// values was refused: then it is not known what was meant.
    pub(crate) fn contradiction(&mut self, problem: Problem) {
        let entry = |path: &str| path.rsplit_once('.').map(|(entry, _)| entry.to_owned());
        let of = |problem: &Problem| problem.path.as_deref().and_then(entry);
        let wanted = of(&problem);
        if wanted.is_none() || self.problems.iter().all(|(_, known)| of(known) != wanted) {
            self.contradictions.push(problem);
        }
    }

    pub(crate) fn warn(&mut self, warning: String) {
        self.warnings.push(warning);
    }

    /// Notes a key that is read without complaint and does nothing.
    pub(crate) fn without_effect(&mut self, key: &str, reason: &str, place: String) {
        self.without_effect.add(key, reason, place);
    }

    /// Notes a key of an older version and how it is read.
    pub(crate) fn renamed(&mut self, key: &str, read_as: &str, place: String) {
        self.renamed.add(key, read_as, place);
    }

    pub(crate) fn has_problems(&self) -> bool {
        !self.problems.is_empty()
    }

    /// The warnings, or all problems in the order of sources and lines.
    pub(crate) fn finish(mut self) -> Result<Vec<String>, ConfigError> {
        if self.has_problems() || !self.contradictions.is_empty() {
            self.problems.sort_by_key(|(order, _)| *order);
            let of_sources = self.problems.into_iter().map(|(_, problem)| problem);
            return Err(ConfigError::new(of_sources.chain(self.contradictions).collect()));
        }
        let headed = [
            ("settings without effect", &self.without_effect),
            ("keys of older versions", &self.renamed),
        ];
        let remarks = headed.into_iter().filter(|(_, remarks)| !remarks.list.is_empty());
        let remarks = remarks.map(|(head, remarks)| {
            let keys: Vec<String> = remarks.list.iter().map(Remark::text).collect();
            format!("{head}: {}", keys.join("; "))
        });
        Ok(remarks.chain(self.warnings).collect())
    }
}

impl Remarks {
    fn add(&mut self, key: &str, text: &str, place: String) {
        let at = *self.index.entry(key.to_owned()).or_insert_with(|| {
            let (key, text) = (key.to_owned(), text.to_owned());
            self.list.push(Remark { key, text, places: Vec::new() });
            self.list.len() - 1
        });
        self.list[at].places.push(place);
    }
}

impl Remark {
    fn text(&self) -> String {
        const SHOWN: usize = 3;
        let places = self.places[..self.places.len().min(SHOWN)].join(", ");
        let more = match self.places.len().saturating_sub(SHOWN) {
            0 => String::new(),
            n => format!(" and {n} more"),
        };
        format!("`{}` at {places}{more} ({})", self.key, self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn problems_come_in_the_order_of_sources_and_lines() {
        let mut report = Complaints::default();
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
    fn one_contradiction_of_an_entry_does_not_hide_another() {
        let mut report = Complaints::default();
        for key in ["a", "b"] {
            report.contradiction(Problem::new("wrong").path(format!("retry.instances.x.{key}")));
        }
        assert_eq!(report.finish().unwrap_err().problems().len(), 2);
    }

    #[test]
    fn keys_without_effect_make_one_warning() {
        let mut report = Complaints::default();
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
