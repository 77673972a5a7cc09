//! Files that once were, or could be, too much for the loader: `corpus/`, of one folder for each format.
//! Each is loaded within bounds of time and memory, and so are some thousand texts made from them.
//!
//! `corpus/verdicts.txt` tells for each file whether it is loaded or in which lines and under which
//! keys it is refused. `RESILIENCE_CORPUS=overwrite` writes it anew.

#![allow(clippy::unwrap_used)] // helpers of tests may unwrap as the tests themselves do

use std::{
    env, fs,
    path::{Path, PathBuf},
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

use resilience::config::{Config, ConfigError, Format, Problem};
use resilience_tests::{
    allocations::{Counting, peak_bytes},
    mutation::{Numbers, mutate},
    soundness,
};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// What a file may take to load in a debug build.
const TIME: Duration = Duration::from_secs(2);
/// What it may have in use at one moment.
const BYTES: usize = 64 << 20;
/// When a load counts as one that never ends; more than it may take, for the sake of busy machines.
const FOREVER: Duration = Duration::from_mins(1);

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus")
}

/// The files of a folder, in order.
fn files(folder: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(corpus().join(folder)).unwrap();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

fn files_of_all_formats() -> Vec<PathBuf> {
    ["json", "properties", "toml", "yaml"].into_iter().flat_map(files).collect()
}

/// Runs what may take neither long nor much, in a thread with the usual stack.
///
/// # Panics
///
/// With `name`, when it panics, does not end, or passes a bound.
fn within_bounds<T: Send + 'static>(name: &str, run: impl FnOnce() -> T + Send + 'static) -> T {
    let (done, is_done) = mpsc::channel();
    let worker = thread::spawn(move || {
        let (start, mut result) = (Instant::now(), None);
        let bytes = peak_bytes(|| result = Some(run()));
        // Nobody listens after `FOREVER`.
        let _ = done.send((result, start.elapsed(), bytes));
    });
    match is_done.recv_timeout(FOREVER) {
        Ok((result, took, bytes)) => {
            assert!(took < TIME, "{name} took {took:?}");
            assert!(bytes < BYTES, "{name} took {bytes} bytes");
            result.unwrap()
        }
        Err(mpsc::RecvTimeoutError::Timeout) => panic!("{name} is not done after {FOREVER:?}"),
        Err(mpsc::RecvTimeoutError::Disconnected) => {
            panic!("{name} panicked: {:?}", worker.join().map_err(|_| "see above"))
        }
    }
}

fn load_file(path: PathBuf) -> Result<Config, ConfigError> {
    within_bounds(&path.display().to_string(), move || {
        let loaded = Config::builder().env(false).profile(soundness::PROFILE).file(path).load();
        soundness::look_at(&loaded);
        loaded
    })
}

/// Line and key path of a problem; `-` for a line that no parser can know.
fn place_of(problem: &Problem, path: &Path) -> String {
    let place = problem.place.as_deref().unwrap();
    let file = path.display().to_string();
    let line = place.strip_prefix(&file).unwrap_or_else(|| panic!("{place} is not in {file}"));
    let line = line.strip_prefix(':').unwrap_or("-");
    let shown = |path: &str| path.chars().take(80).collect::<String>();
    problem.path.as_deref().map_or(line.to_owned(), |path| format!("{line} {}", shown(path)))
}

fn verdict(path: &Path) -> String {
    match load_file(path.to_owned()) {
        Ok(_) => "loaded".to_owned(),
        Err(error) => {
            let mut places: Vec<String> =
                error.problems().iter().map(|problem| place_of(problem, path)).collect();
            places.dedup();
            places.join(", ")
        }
    }
}

#[test]
fn every_file_is_loaded_or_refused_in_the_lines_and_under_the_keys_at_fault() {
    let line = |path: PathBuf| {
        let name = path.strip_prefix(corpus()).unwrap().display().to_string().replace('\\', "/");
        name + ": " + &verdict(&path) + "\n"
    };
    let verdicts: String = files_of_all_formats().into_iter().map(line).collect();
    let known = corpus().join("verdicts.txt");
    if env::var_os("RESILIENCE_CORPUS").is_some_and(|value| value == "overwrite") {
        fs::write(&known, &verdicts).unwrap();
    }
    let known = fs::read_to_string(known).unwrap();
    for (found, wanted) in verdicts.lines().zip(known.lines()) {
        assert_eq!(found, wanted);
    }
    assert_eq!(verdicts.lines().count(), known.lines().count(), "files without a verdict");
}

/// How many texts are made from each file.
const MUTATIONS: usize = 20;

#[test]
fn files_that_were_changed_at_random_are_loaded_or_refused_within_the_same_bounds() {
    let mut numbers = Numbers::new(7);
    let (mut loaded, mut refused) = (0, 0);
    let of_programs = files("../tests/config"); // as people write them
    for path in files_of_all_formats().into_iter().chain(of_programs) {
        let Some(format) = Format::of_path(&path) else { continue }; // what is expected of one
        let Ok(seed) = fs::read_to_string(&path) else { continue }; // not UTF-8, and no text therefore
        for number in 0..MUTATIONS {
            let text = mutate(&seed, &mut numbers);
            let name = format!("mutation {number} of {}", path.display());
            let is_loaded = within_bounds(&name, move || soundness::load(&text, format).is_ok());
            *(if is_loaded { &mut loaded } else { &mut refused }) += 1;
        }
    }
    // Both ends are reached, or the texts prove nothing.
    assert!(loaded > 100 && refused > 100, "{loaded} loaded, {refused} refused");
}

#[test]
fn durations_that_were_changed_at_random_are_read_back_as_written_or_refused() {
    let mut numbers = Numbers::new(13);
    let (mut read, mut refused) = (0, 0);
    for path in files("durations") {
        let seed = fs::read_to_string(path).unwrap();
        for number in 0..2_000 {
            let text = if number == 0 { seed.clone() } else { mutate(&seed, &mut numbers) };
            *(if soundness::duration(&text).is_ok() { &mut read } else { &mut refused }) += 1;
        }
    }
    assert!(read > 100 && refused > 100, "{read} read, {refused} refused");
}
