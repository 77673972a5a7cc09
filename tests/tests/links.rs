//! The guides of the project lead somewhere: every link to a file or a heading in them has one.

#![allow(clippy::unwrap_used, reason = "a failure here fails the test")]

use std::{
    fs,
    path::{Path, PathBuf},
};

#[test]
fn every_link_within_the_project_leads_somewhere() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut links = 0;
    let mut dead = Vec::new();
    for guide in guides(root) {
        let text = fs::read_to_string(&guide).unwrap();
        for link in links_of(&text).filter(|link| !link.contains("://")) {
            links += 1;
            if !leads_somewhere(&guide, link) {
                dead.push(format!("{}: {link}", guide.strip_prefix(root).unwrap().display()));
            }
        }
    }
    assert_eq!(dead, [""; 0]);
    assert!(links > 50, "only {links} links were found: are they still written as here?");
}

#[test]
fn a_link_to_nothing_is_noticed() {
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("../README.md");
    for link in ["docs/settings.md", "docs", "docs/settings.md#retry", "#quick-start"] {
        assert!(leads_somewhere(&readme, link), "{link}");
    }
    for link in ["docs/nothing.md", "settings.md", "docs/settings.md#nothing", "#nothing"] {
        assert!(!leads_somewhere(&readme, link), "{link}");
    }
}

/// The files in Markdown that are the project's own.
fn guides(folder: &Path) -> Vec<PathBuf> {
    let mut guides = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let (path, name) = {
            let entry = entry.unwrap();
            (entry.path(), entry.file_name().into_string().unwrap())
        };
        if path.is_dir() && name != "target" && !name.starts_with('.') {
            guides.extend(self::guides(&path));
        } else if path.extension().is_some_and(|extension| extension == "md") {
            guides.push(path);
        }
    }
    guides
}

/// What a text in Markdown links to and what it shows, outside of code.
fn links_of(text: &str) -> impl Iterator<Item = &str> {
    let prose = text.split("\n```").step_by(2);
    prose.flat_map(|prose| {
        let links = prose.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        let pictures = ["src=\"", "srcset=\""].into_iter().flat_map(move |attribute| {
            prose.split(attribute).skip(1).filter_map(|rest| rest.split('"').next())
        });
        links.chain(pictures)
    })
}

fn leads_somewhere(guide: &Path, link: &str) -> bool {
    let (file, heading) = link.split_once('#').map_or((link, None), |(f, h)| (f, Some(h)));
    let target = match file {
        "" => guide.to_owned(),
        file => guide.parent().unwrap().join(file),
    };
    match heading {
        None => target.exists(),
        Some(heading) => fs::read_to_string(target)
            .is_ok_and(|text| headings(&text).any(|found| found == heading)),
    }
}

/// The headings of a text, as links name them.
fn headings(text: &str) -> impl Iterator<Item = String> {
    let lines = text.split("\n```").step_by(2).flat_map(str::lines);
    lines.filter(|line| line.starts_with('#')).map(|line| {
        let words = line.trim_start_matches('#').trim().to_lowercase();
        let kept = words.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
        kept.map(|c| if c == ' ' { '-' } else { c }).collect()
    })
}
