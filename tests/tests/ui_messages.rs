//! What users read about their mistakes. Each file in `ui/*/fail` says above itself which token is wrong
//! and what its message offers instead:
//!
//! ```text
//! // wrong: 0
//! // instead: a whole number from 1
//! ```
//!
//! That the messages are the compiler's is the business of the test `ui`.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// A file that does not compile, with what the compiler says about it.
struct Mistake {
    path: PathBuf,
    source: String,
    said: String,
}

impl Mistake {
    fn all() -> Vec<Self> {
        let mut found = Vec::new();
        for attribute in entries(&Path::new(env!("CARGO_MANIFEST_DIR")).join("ui")) {
            let fail = attribute.join("fail");
            if !fail.exists() {
                continue;
            }
            for path in entries(&fail) {
                if path.extension().is_some_and(|extension| extension == "rs") {
                    let source = fs::read_to_string(&path).expect("a file");
                    let said = fs::read_to_string(path.with_extension("stderr"))
                        .expect("what is said about it");
                    found.push(Self { path, source, said });
                }
            }
        }
        found
    }

    /// What the comments above the file declare under a word.
    fn declared(&self, word: &str) -> Vec<&str> {
        let comments = self.source.lines().map_while(|line| line.strip_prefix("// "));
        comments.filter_map(|comment| comment.strip_prefix(word)?.strip_prefix(": ")).collect()
    }

    /// What each error underlines first.
    fn underlined(&self) -> Vec<String> {
        let lines: Vec<&str> = self.said.lines().collect();
        let errors = lines
            .split(|line| line.is_empty())
            .filter(|error| error.first().is_some_and(|first| first.starts_with("error")));
        errors.map(|error| underlined(error).unwrap_or_default()).collect()
    }

    /// What is said, without the lines of the source that are shown.
    fn words(&self) -> String {
        let own = self.said.lines().filter(|line| {
            line.trim_start().split_once(" |").is_none_or(|(number, _)| !is_number(number))
        });
        own.collect::<Vec<_>>().join("\n")
    }
}

fn entries(directory: &Path) -> Vec<PathBuf> {
    fs::read_dir(directory).expect("a directory").flatten().map(|entry| entry.path()).collect()
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_digit())
}

/// The text above the first carets, in the line that the arrow points to.
fn underlined(error: &[&str]) -> Option<String> {
    let place = error.iter().find_map(|line| line.trim_start().strip_prefix("--> "))?;
    let number = place.split(':').nth(1)?;
    let shown = error.windows(2).find(|lines| {
        lines[0].trim_start().split_once(" |").is_some_and(|(start, _)| start == number)
    })?;
    let start = shown[1].chars().position(|c| c == '^')?;
    let length = shown[1].chars().skip(start).take_while(|c| *c == '^').count();
    Some(shown[0].chars().skip(start).take(length).collect())
}

#[test]
fn there_is_a_catalogue_of_mistakes() {
    let mistakes = Mistake::all().len();
    assert!(mistakes >= 40, "{mistakes} mistakes are not all that can be made");
}

#[test]
fn each_mistake_says_what_is_wrong_and_what_to_write_instead() {
    for mistake in Mistake::all() {
        let (wrong, instead) = (mistake.declared("wrong"), mistake.declared("instead"));
        assert!(
            !wrong.is_empty() && wrong.len() == instead.len(),
            "{} needs `// wrong: …` and `// instead: …` above it",
            mistake.path.display()
        );
    }
}

#[test]
fn the_wrong_token_is_underlined_and_nothing_else() {
    for mistake in Mistake::all() {
        let (declared, underlined) = (mistake.declared("wrong"), mistake.underlined());
        for wrong in &declared {
            assert!(
                underlined.iter().any(|token| token == wrong),
                "{}: `{wrong}` is not underlined, but {underlined:?}",
                mistake.path.display()
            );
        }
        for token in &underlined {
            // The same mistake may come up once more in the expression around it.
            assert!(
                declared.iter().any(|wrong| token.contains(wrong)),
                "{}: `{token}` is underlined, and {declared:?} wrong",
                mistake.path.display()
            );
        }
    }
}

#[test]
fn the_message_says_what_to_write_instead() {
    for mistake in Mistake::all() {
        let words = mistake.words();
        for instead in mistake.declared("instead") {
            assert!(
                words.contains(instead),
                "{}: nothing says `{instead}`:\n{words}",
                mistake.path.display()
            );
        }
    }
}
