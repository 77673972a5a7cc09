//! What users read about wrong names and files. Each file in `mistakes` says above itself which token is
//! wrong, what its message offers instead, and in `says` what else it tells.

mod support;

use std::{fs, path::Path};

use support::{METADATA, Mistake, Package};

const CONFIG: &str = include_str!("../resilience.yaml");
const BROKEN: &str = "retry.instances:\n  pay: { max_attempts: 0 }\n";

const PAY: &str = "
#[resilience::retry(name = \"payment\")]
pub async fn pay() -> Result<u32, resilience::Error> {
    Ok(1)
}
";

fn package(name: &'static str, metadata: &str, config: &str) -> Package {
    let package = Package::new(name, metadata);
    package.write("resilience.yaml", config);
    package.write("broken.yaml", BROKEN);
    package.write("resilience.ini", "");
    package.write("src/lib.rs", PAY);
    package
}

/// What the comments above a file declare under a word.
fn declared<'a>(source: &'a str, word: &str) -> Vec<&'a str> {
    let comments = source.lines().map_while(|line| line.strip_prefix("// "));
    comments.filter_map(|comment| comment.strip_prefix(word)?.strip_prefix(": ")).collect()
}

fn only(mistakes: &[Mistake]) -> &Mistake {
    match mistakes {
        [only] => only,
        _ => panic!("{} mistakes", mistakes.len()),
    }
}

#[test]
fn each_mistake_underlines_the_wrong_token_and_says_what_to_write_instead() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("mistakes");
    let package = package("catalogue", METADATA, CONFIG);
    for file in fs::read_dir(folder).expect("a folder") {
        let path = file.expect("a file").path();
        let source = fs::read_to_string(&path).expect("a file");
        package.write("src/lib.rs", &source);
        let found = package.check();
        let messages: Vec<&str> = found.iter().map(|mistake| mistake.message.as_str()).collect();
        let mut underlined: Vec<&str> =
            found.iter().map(|mistake| mistake.wrong.as_str()).collect();
        let mut wrong = declared(&source, "wrong");
        underlined.sort_unstable();
        wrong.sort_unstable();
        assert_eq!(underlined, wrong, "{}: {messages:#?}", path.display());
        assert!(!declared(&source, "instead").is_empty(), "{}", path.display());
        for text in [declared(&source, "instead"), declared(&source, "says")].concat() {
            assert!(
                messages.iter().any(|message| message.contains(text)),
                "{}: nothing says `{text}`: {messages:#?}",
                path.display()
            );
        }
    }
}

#[test]
fn a_broken_file_is_told_at_the_attribute_with_everything_that_is_wrong_in_it() {
    let config = "retry:\n  instances:\n    payment: { max_atempts: 3, wait_duration: soon }\n";
    let mistakes = package("broken", METADATA, config).check();
    let mistake = only(&mistakes);
    assert_eq!(mistake.wrong, "#[resilience::retry(name = \"payment\")]");
    for told in [
        "2 problems in the configuration:",
        "resilience.yaml:3: retry.instances.payment.max_atempts = 3: unknown key",
        "did you mean `max_attempts`?",
        "resilience.yaml:3: retry.instances.payment.wait_duration = soon:",
    ] {
        assert!(mistake.message.contains(told), "`{told}`: {}", mistake.message);
    }
}

#[test]
fn settings_that_rule_each_other_out_are_wrong() {
    let config = "retry.instances.payment: {}\ncircuitbreaker.instances.a:\n  \
                  enable_exponential_backoff: true\n  enable_randomized_wait: true\n";
    let mistakes = package("contradictory", METADATA, config).check();
    assert!(only(&mistakes).message.contains("keep one of the two"), "{}", mistakes[0].message);
}

/// Forty instances.
fn list(instance: impl Fn(u32) -> String) -> String {
    (0..40).map(|n| ["\n  ", &instance(n)].concat()).collect()
}

#[test]
fn a_message_tells_no_more_than_can_be_read() {
    let many = list(|n| format!("i{n}: {{ max_attempts: 0 }}"));
    let mistakes = package("many-problems", METADATA, &format!("retry.instances:{many}")).check();
    assert!(only(&mistakes).message.lines().count() <= 12, "{}", mistakes[0].message);

    let many = list(|n| format!("shop{n}: {{}}"));
    let mistakes = package("many-names", METADATA, &format!("retry.instances:{many}")).check();
    assert!(only(&mistakes).message.ends_with(" and 30 more"), "{}", mistakes[0].message);
}

#[test]
fn wrong_metadata_is_told_at_the_attribute() {
    for (metadata, says) in [
        ("config = 3", "`config` is the path of a file, or a list of 1 to 100: write"),
        ("config.workspace = true", "a member names the file itself: write `config = \"../"),
        ("Config = \"resilience.yaml\"", "has no key `Config`; did you mean `config`?"),
        ("configs = \"a.yaml\"", "has no key `configs`; did you mean `config`?"),
        ("profiles = [\"prod\"]", "`config` is the path of a file"),
        (
            "config = \"resilience.yaml\"\nprofiles = { a = 1 }",
            "`profiles` is a list of names: write",
        ),
        ("config = [\"resilience.yaml\", \"extra.yaml\"]", "extra.yaml: cannot read the file"),
    ] {
        let package =
            package("metadata", &format!("[package.metadata.resilience]\n{metadata}"), CONFIG);
        let mistakes = package.check();
        let mistake = only(&mistakes);
        assert!(mistake.message.contains(says), "{metadata}: {}", mistake.message);
        assert_eq!(mistake.wrong, "#[resilience::retry(name = \"payment\")]", "{metadata}");
    }
}

#[test]
fn a_mistake_leaves_the_function_where_it_is() {
    let package = package("kept", METADATA, "retry.instances.other: {}");
    package.write("src/lib.rs", &format!("{PAY}\npub async fn calls() {{ let _ = pay().await; }}"));
    assert_eq!(only(&package.check()).wrong, "\"payment\"", "its caller finds it");
}

#[test]
fn profiles_of_the_manifest_choose_documents_and_files_come_together() {
    let metadata = "[package.metadata.resilience]\nconfig = [\"resilience.yaml\", \"more.yaml\"]\n\
                    profiles = [\"prod\"]";
    let package = package("profiles", metadata, CONFIG);
    package.write("more.yaml", "retry.instances.more: {}");
    let names = PAY.replace("\"payment\"", "\"onlyInProduction\"");
    let more = PAY.replace("\"payment\"", "\"more\"").replace("fn pay", "fn more");
    package.write("src/lib.rs", &format!("{names}{more}"));
    assert!(package.check().is_empty());
}

/// Functions `f0`, `f1`, … with an attribute.
fn functions(number: usize, attribute: &str) -> String {
    let function = |n| {
        format!("{attribute}\npub async fn f{n}() -> Result<u32, resilience::Error> {{ Ok(1) }}\n")
    };
    (0..number).map(function).collect()
}

#[test]
fn names_of_profiles_that_exclude_each_other_are_declared() {
    let config = "retry.instances.always: {}\n---\nspring.config.activate.on-profile: prod\n\
                  retry.instances.payment: {}\nretry.configs.patient: {}\n---\n\
                  spring.config.activate.on-profile: '!prod'\nretry.instances.stub: {}\n";
    for metadata in [METADATA, &format!("{METADATA}\nprofiles = [\"prod\"]")] {
        let package = package("all-profiles", metadata, config);
        let stub = PAY.replace("\"payment\"", "\"stub\"").replace("fn pay", "fn stub");
        let based = "\"any\", base_config = \"patient\"";
        let based = PAY.replace("\"payment\"", based).replace("fn pay", "fn based");
        package.write("src/lib.rs", &format!("{PAY}{stub}{based}"));
        let mistakes = package.check();
        assert!(mistakes.is_empty(), "{}", mistakes[0].message);
    }
}

#[test]
fn a_broken_file_is_told_once_and_pointed_to_by_every_further_function() {
    for (name, metadata, attribute, wrong) in [
        (
            "once",
            "[package.metadata.resilience]\nconfig = \"broken.yaml\"",
            "#[resilience::retry]",
            None,
        ),
        (
            "once-named",
            "",
            "#[resilience::retry(config = \"broken.yaml\")]",
            Some("\"broken.yaml\""),
        ),
        (
            "once-manifest",
            "[package.metadata.resilience]\nconfig = 3",
            "#[resilience::retry]",
            None,
        ),
    ] {
        let package = package(name, metadata, CONFIG);
        package.write("src/lib.rs", &functions(4, attribute));
        let mistakes = package.check();
        let (first, further) = mistakes.split_first().expect("mistakes");
        assert!(
            first.message.contains("max_attempts = 0") || first.message.contains("Cargo.toml:")
        );
        assert_eq!(further.len(), 3);
        for mistake in further {
            let pointer = "the error at `f0` (src/lib.rs:1) tells what";
            assert!(mistake.message.contains(pointer), "{}", mistake.message);
            assert_eq!(mistake.message.lines().count(), 1);
            assert_eq!(mistake.wrong, wrong.unwrap_or(attribute));
        }
    }
}

#[test]
fn an_attribute_can_say_that_its_name_is_not_declared_in_files() {
    let package = package("not-checked", METADATA, CONFIG);
    let attribute = "#[resilience::retry(name = \"declared in code\", config = false)]";
    let attribute = attribute.replace(" in code", "InCode");
    package.write("src/lib.rs", &functions(1, &attribute));
    assert!(package.check().is_empty());
    package.write("src/lib.rs", &functions(1, &attribute.replace(", config = false", "")));
    assert_eq!(only(&package.check()).wrong, "\"declaredInCode\"");
}

#[test]
fn where_no_file_of_several_has_a_name_they_are_listed_as_far_as_can_be_read() {
    let files: Vec<String> = (0..12).map(|n| format!("\"f{n}.yaml\"")).collect();
    for (number, says) in [
        (2, "none of f0.yaml, f1.yaml has `payment` under `retry.instances`"),
        (12, "none of f0.yaml, f1.yaml, f2.yaml, f3.yaml, f4.yaml and 7 more has `payment`"),
    ] {
        let metadata =
            format!("[package.metadata.resilience]\nconfig = [{}]", files[..number].join(", "));
        let package = package("several", &metadata, CONFIG);
        (0..number).for_each(|n| package.write(&format!("f{n}.yaml"), ""));
        let mistakes = package.check();
        assert!(only(&mistakes).message.contains(says), "{}", mistakes[0].message);
    }
}

#[test]
fn a_manifest_of_any_length_is_read() {
    let long = "# a comment\n".repeat(100_000);
    let package = package("long-manifest", &format!("{long}{METADATA}"), "");
    assert_eq!(only(&package.check()).wrong, "\"payment\"");
}

#[test]
fn without_metadata_nothing_is_checked() {
    let package = package("unchecked", "", CONFIG);
    package.write("src/lib.rs", &PAY.replace("payment", "anything"));
    assert!(package.check().is_empty());
}
