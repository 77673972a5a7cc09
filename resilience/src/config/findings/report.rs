use std::fmt;

use super::{Finding, Severity};

/// Everything that was found in a configuration.
///
/// [`Config::report`](crate::Config::report) tells what a configuration says by itself,
/// [`Resilience::report`](crate::Resilience::report) what it says of the program as well.
///
/// # Examples
///
/// ```
/// assert!(resilience::Config::default().report().findings().is_empty());
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    findings: Vec<Finding>,
}

impl Report {
    /// Everything, in the order in which it was found.
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// The highest severity, if anything was found.
    pub fn worst(&self) -> Option<Severity> {
        self.findings.iter().map(|finding| finding.severity).max()
    }
}

impl FromIterator<Finding> for Report {
    fn from_iter<I: IntoIterator<Item = Finding>>(findings: I) -> Self {
        Self { findings: findings.into_iter().collect() }
    }
}

/// A line for each finding, with its severity.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for finding in &self.findings {
            writeln!(f, "{}: {finding} [{}]", finding.severity, finding.code)?;
        }
        Ok(())
    }
}
