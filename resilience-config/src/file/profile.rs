//! Which documents of a file apply: Spring's profile expressions.

use crate::property::shown_key;

/// A condition on the active profiles, such as `prod & (eu | us)` or `!test`.
#[derive(Debug, PartialEq, Eq)]
enum Expression {
    Profile(String),
    Not(Box<Expression>),
    All(Vec<Expression>),
    Any(Vec<Expression>),
}

/// The profile that is active when none is.
const DEFAULT: &str = "default";
/// How deep parentheses and `!` may nest.
const MAX_DEPTH: usize = 64;

/// The profiles under which documents are chosen.
#[derive(Debug, Clone)]
pub(super) struct Active(Vec<String>);

impl Active {
    pub(super) fn new(profiles: Vec<String>) -> Self {
        Self(if profiles.is_empty() { vec![DEFAULT.to_owned()] } else { profiles })
    }

    /// Whether one of the conditions holds, each a comma list of expressions.
    ///
    /// # Errors
    ///
    /// Says what is wrong with an expression.
    pub(super) fn matches<'a>(
        &self,
        conditions: impl IntoIterator<Item = &'a str>,
    ) -> Result<bool, String> {
        let mut matches = false;
        for text in conditions.into_iter().flat_map(|condition| condition.split(',')) {
            let mut parser = Parser { rest: text, depth: 0 };
            let expression = parser.expression()?;
            if !parser.rest.trim().is_empty() {
                return Err(format!("`{}` is no profile expression", shown_key(text)));
            }
            matches |= self.holds(&expression);
        }
        Ok(matches)
    }

    fn holds(&self, expression: &Expression) -> bool {
        match expression {
            Expression::Profile(name) => self.0.contains(name),
            Expression::Not(inner) => !self.holds(inner),
            Expression::All(parts) => parts.iter().all(|part| self.holds(part)),
            Expression::Any(parts) => parts.iter().any(|part| self.holds(part)),
        }
    }
}

/// Splits a comma list of profile names.
pub(crate) fn names(text: &str) -> Vec<String> {
    text.split(',').map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).collect()
}

struct Parser<'a> {
    rest: &'a str,
    depth: usize,
}

impl Parser<'_> {
    /// Operands joined by one kind of operator; mixing both needs parentheses, as in Spring.
    fn expression(&mut self) -> Result<Expression, String> {
        let mut parts = vec![self.operand()?];
        let mut operator = None;
        loop {
            self.rest = self.rest.trim_start();
            let Some(next) = self.rest.chars().next().filter(|c| matches!(c, '&' | '|')) else {
                break;
            };
            if *operator.get_or_insert(next) != next {
                return Err("`&` and `|` side by side need parentheses".into());
            }
            self.rest = &self.rest[1..];
            parts.push(self.operand()?);
        }
        Ok(match (operator, parts.pop()) {
            (None, Some(only)) => only,
            (Some('|'), last) => Expression::Any(parts.into_iter().chain(last).collect()),
            (_, last) => Expression::All(parts.into_iter().chain(last).collect()),
        })
    }

    fn operand(&mut self) -> Result<Expression, String> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(format!("a profile expression nests deeper than {MAX_DEPTH} levels"));
        }
        self.rest = self.rest.trim_start();
        let operand = if let Some(rest) = self.rest.strip_prefix('!') {
            self.rest = rest;
            Expression::Not(Box::new(self.operand()?))
        } else if let Some(rest) = self.rest.strip_prefix('(') {
            self.rest = rest;
            let inner = self.expression()?;
            self.rest = self
                .rest
                .trim_start()
                .strip_prefix(')')
                .ok_or("a parenthesis is not closed in a profile expression")?;
            inner
        } else {
            let end = self.rest.find(['&', '|', '!', '(', ')']).unwrap_or(self.rest.len());
            let name = self.rest[..end].trim();
            if name.is_empty() {
                return Err("a profile's name is missing".into());
            }
            self.rest = &self.rest[end..];
            Expression::Profile(name.to_owned())
        };
        self.depth -= 1;
        Ok(operand)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(active: &[&str], condition: &str) -> Result<bool, String> {
        let active = active.iter().map(|&name| name.to_owned()).collect();
        Active::new(active).matches([condition])
    }

    #[test]
    fn expressions_follow_springs_rules() {
        for (active, condition, expected) in [
            (&["prod"][..], "prod", true),
            (&["prod"], "test", false),
            (&["prod"], "!test", true),
            (&["prod"], "!prod", false),
            (&["prod", "eu"], "prod & eu", true),
            (&["prod"], "prod & eu", false),
            (&["prod"], "prod | eu", true),
            (&["prod", "us"], "prod & (eu | us)", true),
            (&["us"], "prod & (eu | us)", false),
            (&["prod"], "!(test | dev) & prod", true),
            (&["eu"], "prod, eu", true),
            (&["eu"], "prod,us", false),
            (&[], "default", true),
            (&["prod"], "default", false),
            (&["prod"], "!!prod", true),
        ] {
            assert_eq!(matches(active, condition), Ok(expected), "{active:?} {condition}");
        }
    }

    #[test]
    fn malformed_expressions_are_refused() {
        for condition in ["", "a &", "& a", "(a", "a)", "a & b | c", "!", "a b)", &"(".repeat(99)] {
            assert!(matches(&["a"], condition).is_err(), "{condition}");
        }
    }
}
