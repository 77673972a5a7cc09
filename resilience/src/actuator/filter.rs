//! What a path asks for.

use resilience_settings::MAX_NAME_CHARS;
use serde::Deserialize;

use super::{problem::Problem, watched::POOL};

/// The longest name that a path may have, in characters: no instance is shown under a longer one.
const LONGEST_NAME: usize = MAX_NAME_CHARS + POOL.len();

/// The events that a path asks for.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Filter {
    name: Option<String>,
    #[serde(rename = "type")]
    event_type: Option<String>,
}

impl Filter {
    /// The same with the type as one of `types` is spelled.
    pub(super) fn checked(self, types: &[&str]) -> Result<Self, Problem> {
        let Self { name, event_type } = self;
        let name = name.map(|name| Name { name }.checked()).transpose()?;
        let spelled = |event_type: String| {
            let known = types.iter().find(|known| known.eq_ignore_ascii_case(&event_type));
            known.ok_or_else(|| {
                let types = types.join(", ");
                Problem::bad_request(format!("no such type of events: expected one of {types}"))
            })
        };
        let event_type = event_type.map(spelled).transpose()?.map(|known| (*known).to_owned());
        Ok(Self { name, event_type })
    }

    pub(super) fn wants_name(&self, name: &str) -> bool {
        self.name.as_ref().is_none_or(|wanted| wanted == name)
    }

    pub(super) fn wants_type(&self, event_type: &str) -> bool {
        self.event_type.as_ref().is_none_or(|wanted| wanted == event_type)
    }
}

/// The name of an instance in a path.
#[derive(Debug, Deserialize)]
pub(super) struct Name {
    name: String,
}

impl Name {
    pub(super) fn checked(self) -> Result<String, Problem> {
        if self.name.chars().count() > LONGEST_NAME {
            let message = format!("no name is longer than {LONGEST_NAME} characters");
            return Err(Problem::bad_request(message));
        }
        Ok(self.name)
    }
}
