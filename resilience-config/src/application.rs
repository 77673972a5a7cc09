//! The name of the program in its metrics.

use std::sync::Arc;

use resilience_settings::MAX_NAME_CHARS;

use crate::{
    Problem,
    complaints::Complaints,
    environment::{APPLICATION, Variable},
    shorten,
    source::{Source, Spot},
};

/// Where a name was found, for the problem that it may be.
pub(crate) struct Found<'a> {
    pub(crate) path: &'static str,
    pub(crate) text: &'a str,
    pub(crate) spot: Spot,
}

impl<'a> Found<'a> {
    pub(crate) fn in_code(text: &'a str, source: &Source) -> Self {
        Self { path: "application", text, spot: source.spot(None) }
    }

    /// What the environment says. A variable that is no text is a problem.
    pub(crate) fn in_environment(
        variables: &'a [Variable],
        report: &mut Complaints,
    ) -> Option<Self> {
        let is_it = |variable: &&Variable| variable.name.eq_ignore_ascii_case(APPLICATION);
        let variable = variables.iter().find(is_it)?;
        let spot = Spot::environment(APPLICATION);
        match variable.text() {
            Ok(text) => Some(Self { path: "application", text, spot }),
            Err(problem) => {
                report.problem_at(&spot, problem);
                None
            }
        }
    }

    /// The name, unless it cannot be one.
    pub(crate) fn checked(&self, report: &mut Complaints) -> Option<Arc<str>> {
        let name = self.text.trim();
        let is_name = !name.is_empty()
            && name.chars().count() <= MAX_NAME_CHARS
            && !name.contains(char::is_control);
        if !is_name {
            let message =
                format!("expected 1 to {MAX_NAME_CHARS} characters without control characters");
            let problem = Problem::new(message).path(self.path).value(shorten(name));
            report.problem_at(&self.spot, problem);
        }
        is_name.then(|| name.into())
    }
}
