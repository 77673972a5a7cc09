//! The table of cases in this package's README names tests that exist, and every test that is named
//! after a case.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

struct Row<'t> {
    tests: BTreeSet<&'t str>,
    result: &'t str,
}

fn rows() -> BTreeMap<&'static str, Row<'static>> {
    let mut rows = BTreeMap::new();
    for line in include_str!("../README.md").lines() {
        let cells: Vec<_> = line.split('|').map(str::trim).collect();
        if cells.get(1).is_none_or(|id| case_id(&id.to_ascii_lowercase()).is_none()) {
            continue;
        }
        let ["", id, _, tests, result, ""] = cells[..] else { panic!("not four cells: {line}") };
        let tests = tests.split(", ").map(|name| name.trim_matches('`')).collect();
        let twice = rows.insert(id, Row { tests, result });
        assert!(twice.is_none(), "{id} has two rows");
    }
    rows
}

/// `part` as the table writes it, if it is an id such as `a01`.
fn case_id(part: &str) -> Option<String> {
    let is_id = matches!(part.as_bytes(), [b'a'..=b'l', b'0'..=b'9', b'0'..=b'9']);
    is_id.then(|| part.to_ascii_uppercase())
}

/// The names of all tests in Rust files under `folder`.
fn collect(folder: &Path, names: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).expect("a folder of the workspace") {
        let path = entry.expect("readable").path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if path.is_dir() && name != "target" && !name.starts_with('.') {
            collect(&path, names);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            names.extend(tests_in(&fs::read_to_string(&path).expect("a source file")));
        }
    }
}

fn tests_in(source: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut after_attribute = false;
    for line in source.lines().map(str::trim_start) {
        if line.starts_with("#[test]") || line.starts_with("#[tokio::test") {
            after_attribute = true;
        } else if after_attribute && let Some((_, function)) = line.split_once("fn ") {
            names.extend(function.split('(').next().map(str::to_owned));
            after_attribute = false;
        }
    }
    names
}

fn tests() -> BTreeSet<String> {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("a workspace");
    let mut names = BTreeSet::new();
    collect(workspace, &mut names);
    names
}

#[test]
fn every_test_of_the_table_exists() {
    let tests = tests();
    for (id, row) in rows() {
        for name in row.tests.into_iter().filter(|name| !name.is_empty()) {
            assert!(tests.contains(name), "{id} names {name}, which is no test");
        }
    }
}

#[test]
fn every_test_that_is_named_after_a_case_stands_in_its_row() {
    let rows = rows();
    for name in tests() {
        for id in name.split('_').map_while(case_id) {
            let row = rows.get(id.as_str()).unwrap_or_else(|| panic!("{id} of {name} has no row"));
            assert!(row.tests.contains(name.as_str()), "the row of {id} misses {name}");
        }
    }
}

#[test]
fn what_holds_has_a_test_and_what_has_none_says_why() {
    let rows = rows();
    assert!(rows.len() > 100, "the table was read");
    for (id, row) in rows {
        let starts = |words: [&str; 2]| words.iter().any(|word| row.result.starts_with(word));
        let has_test = !row.tests.contains("");
        assert_eq!(has_test, starts(["holds", "differs because "]), "{id}: {}", row.result);
        assert_eq!(!has_test, starts(["waits for ", "documented in "]), "{id}: {}", row.result);
    }
}
