//! `resilience import`: Spring's file as one of ours.

mod yaml;

use std::path::PathBuf;

use clap::Args;

use super::{Output, sources::Sources};
use crate::{
    Config,
    config::{Finding, Format, Report, one_line, shorten},
};

#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// The file of the Spring application, such as application.yml
    file: PathBuf,

    #[command(flatten)]
    sources: Sources,
}

/// The file on standard output; what did not carry over on standard error.
pub(super) fn run(arguments: &Arguments) -> Output {
    let config = match arguments.sources.load([&arguments.file]) {
        Ok(config) => config,
        Err(error) => return Output::failure(error.to_string()),
    };
    let text = match written(&config) {
        Ok(text) => text,
        Err(path) => {
            return Output::failure(format!(
                "{path}: cannot be written so that it is read as the same; rename it"
            ));
        }
    };
    let lost = |finding: &&Finding| ["reading", "unknown_kind"].contains(&finding.code);
    let remarks: Report = config.report().findings().iter().filter(lost).cloned().collect();
    let remarks = remarks.to_string();
    Output { remarks, ..Output::answer(text) }
}

/// The text of a configuration, read once more for the sake of names that nobody thought of.
///
/// # Errors
///
/// The first key path that would be another one, or have another value.
fn written(config: &Config) -> Result<String, String> {
    let text = yaml::of(config);
    let settings =
        |config: &Config| config.effective().into_iter().map(|(path, value, _)| (path, value));
    let again = Config::builder().env(false).text(text.as_str(), Format::Yaml).load();
    let mut again = again.iter().flat_map(settings);
    match settings(config).find(|setting| again.next().as_ref() != Some(setting)) {
        Some((path, _)) => Err(one_line(&shorten(&path))),
        None => Ok(text),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A retry of a name as it stands in a file.
    fn written_of(key: &str) -> Option<Result<String, String>> {
        let text = format!("retry.instances:\n  \"{key}\": {{ max_attempts: 7 }}\n");
        let config = Config::builder().env(false).text(text, Format::Yaml).load().ok()?;
        Some(written(&config))
    }

    #[test]
    fn a_name_that_no_key_leads_to_is_refused() {
        let refused = written_of("[[a]]]").expect("a name").unwrap_err();
        assert_eq!(refused, "retry.instances.[a].].max_attempts");
    }

    proptest! {
        #[test]
        fn names_with_brackets_in_pairs_are_written(before in "[a-c.]{0,3}", inner in "[a-c0.]{1,3}") {
            for key in [format!("{before}[{inner}]"), format!("[{before}[{inner}].x]")] {
                let written = written_of(&key);
                prop_assert!(!matches!(written, Some(Err(_))), "{key}: {written:?}");
            }
        }
    }
}
