//! What the guide shows is what the command prints.

use std::{fs, path::Path, process::Command};

const GUIDE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/command.md");

#[test]
fn every_answer_that_the_guide_shows_is_the_real_one() {
    let guide = fs::read_to_string(GUIDE).unwrap();
    let binary = Path::new(env!("CARGO_BIN_EXE_resilience"));
    let path = format!("{}:/usr/bin:/bin", binary.parent().unwrap().display());
    let mut shown = 0;
    for block in guide.split("```console\n").skip(1) {
        let block = block.split("```").next().unwrap();
        let (line, answer) = block.split_once('\n').unwrap();
        let output = Command::new("sh")
            .args(["-c", line.strip_prefix("$ ").unwrap()])
            .env("PATH", &path)
            .current_dir(Path::new(GUIDE).with_file_name("scenarios"))
            .output()
            .unwrap();
        assert_eq!(String::from_utf8(output.stdout).unwrap(), answer, "{line}");
        shown += 1;
    }
    assert!(shown > 0);
}

#[test]
fn the_guide_lists_every_finding() {
    let guide = fs::read_to_string(GUIDE).unwrap();
    let rules = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/config/findings");
    let mut codes = 0;
    for entry in fs::read_dir(rules).unwrap() {
        let source = fs::read_to_string(entry.unwrap().path()).unwrap();
        let code =
            source.split("const CODE: &str = \"").nth(1).and_then(|rest| rest.split('"').next());
        if let Some(code) = code {
            assert!(guide.contains(&format!("\n| `{code}` | ")), "{code}");
            codes += 1;
        }
    }
    assert!(codes > 10, "{codes}");
}
