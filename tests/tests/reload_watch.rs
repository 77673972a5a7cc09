//! A registry that follows its files: real files, and waiting for the registry's events only.

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use resilience::{
    Config, Resilience,
    events::{Event, EventStream},
    registry::{RegistryEvent, Watcher},
};
use tempfile::TempDir;

/// How long a test waits for an event before it fails. The files are looked at every 5 s at least.
const PATIENCE: Duration = Duration::from_secs(30);

struct Watched {
    registry: Resilience,
    events: EventStream<RegistryEvent>,
    folder: TempDir,
    file: PathBuf,
    _watcher: Watcher,
}

impl Watched {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("resilience.yaml");
        write(&file, 1);
        Self::with(folder, file)
    }

    fn with(folder: TempDir, file: PathBuf) -> Self {
        let loader = Config::builder().env(false).file(&file);
        let registry = Resilience::from_config(loader.clone().load().expect("a valid file"))
            .expect("a valid configuration");
        let events = registry.events().stream();
        let watcher = registry.watch(loader).expect("a file to watch");
        Self { registry, events, folder, file, _watcher: watcher }
    }

    fn attempts(&self) -> u32 {
        self.registry.retry("x").config().max_attempts()
    }

    /// The type of the next event.
    async fn next(&mut self) -> &'static str {
        let next = tokio::time::timeout(PATIENCE, self.events.next()).await;
        next.expect("an event in time").expect("the registry lives").expect("none lost").type_name()
    }

    /// Waits until the file's content is in force. A look may come between two steps of a change.
    async fn until(&mut self, attempts: u32) {
        while self.attempts() != attempts {
            self.next().await;
        }
        assert_eq!(self.attempts(), attempts);
    }
}

fn text(attempts: u32) -> String {
    format!("retry:\n  instances:\n    x: {{ max_attempts: {attempts} }}\n")
}

fn write(file: &Path, attempts: u32) {
    fs::write(file, text(attempts)).expect("a writable file");
}

#[tokio::test]
async fn a_file_that_is_written_in_place_is_read_again() {
    let mut watched = Watched::new();
    write(&watched.file, 4);
    watched.until(4).await;
    write(&watched.file, 5);
    watched.until(5).await;
    assert!(watched.registry.metrics().config_last_reload_successful);
}

#[tokio::test]
async fn a_file_that_is_replaced_by_renaming_is_followed_again_and_again() {
    let mut watched = Watched::new();
    for attempts in 4..7 {
        let new = watched.folder.path().join(".resilience.yaml.swp");
        write(&new, attempts);
        fs::rename(&new, &watched.file).unwrap();
        watched.until(attempts).await;
    }
}

#[tokio::test]
async fn a_file_that_is_deleted_and_written_anew_is_followed() {
    let mut watched = Watched::new();
    fs::remove_file(&watched.file).unwrap();
    write(&watched.file, 4);
    watched.until(4).await;
}

#[tokio::test]
async fn a_missing_file_is_a_failed_reload_and_mends_when_it_is_back() {
    let mut watched = Watched::new();
    fs::remove_file(&watched.file).unwrap();
    assert_eq!(watched.next().await, "RELOAD_FAILED");
    assert_eq!(watched.attempts(), 1);
    write(&watched.file, 1);
    assert_eq!(watched.next().await, "RELOADED", "the same content is good news too");
    write(&watched.file, 4);
    watched.until(4).await;
}

#[tokio::test]
async fn a_half_written_file_keeps_what_is_in_force_until_the_rest_is_there() {
    let mut watched = Watched::new();
    let whole = text(4);
    fs::write(&watched.file, &whole[..whole.len() - 4]).unwrap();
    assert_eq!(watched.next().await, "RELOAD_FAILED");
    assert_eq!(watched.attempts(), 1);
    assert!(!watched.registry.metrics().config_last_reload_successful);
    fs::write(&watched.file, whole).unwrap();
    watched.until(4).await;
    assert!(watched.registry.metrics().config_last_reload_successful);
}

#[tokio::test]
async fn a_file_that_has_become_empty_is_not_taken_for_defaults() {
    let mut watched = Watched::new();
    fs::write(&watched.file, "\n").unwrap();
    assert_eq!(watched.next().await, "RELOAD_FAILED");
    assert_eq!(watched.attempts(), 1);
    fs::write(&watched.file, "# nothing\n").unwrap();
    watched.until(3).await;
}

#[tokio::test]
async fn what_is_written_without_a_change_reloads_nothing() {
    let mut watched = Watched::new();
    write(&watched.file, 1);
    write(&watched.folder.path().join("other.yaml"), 9);
    write(&watched.file, 4);
    assert_eq!(watched.next().await, "RELOADED");
    assert_eq!((watched.attempts(), watched.registry.metrics().reloads), (4, 1));
}

#[tokio::test]
async fn what_was_changed_before_the_watching_began_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("resilience.yaml");
    write(&file, 1);
    let loader = Config::builder().env(false).file(&file);
    let registry = Resilience::from_config(loader.clone().load().unwrap()).unwrap();
    let mut events = registry.events().stream();
    write(&file, 4);
    let _watcher = registry.watch(loader).unwrap();
    let event = tokio::time::timeout(PATIENCE, events.next()).await.unwrap().unwrap().unwrap();
    assert_eq!(event.type_name(), "RELOADED");
    assert_eq!(registry.retry("x").config().max_attempts(), 4);
}

#[cfg(unix)]
#[tokio::test]
async fn the_links_that_kubernetes_swaps_are_followed() {
    use std::os::unix::fs::symlink;
    let folder = tempfile::tempdir().unwrap();
    let volume = folder.path().to_owned();
    let version = |name: &str, attempts: u32| {
        fs::create_dir(volume.join(name)).unwrap();
        write(&volume.join(name).join("resilience.yaml"), attempts);
    };
    version("..2024_1", 1);
    symlink("..2024_1", volume.join("..data")).unwrap();
    let file = volume.join("resilience.yaml");
    symlink("..data/resilience.yaml", &file).unwrap();
    let mut watched = Watched::with(folder, file);
    for (old, new, attempts) in [("..2024_1", "..2024_2", 4), ("..2024_2", "..2024_3", 5)] {
        version(new, attempts);
        symlink(new, volume.join("..data_tmp")).unwrap();
        fs::rename(volume.join("..data_tmp"), volume.join("..data")).unwrap();
        fs::remove_dir_all(volume.join(old)).unwrap();
        watched.until(attempts).await;
    }
    assert_eq!(watched.registry.metrics().failed_reloads, 0);
}

#[tokio::test]
async fn a_folder_that_is_replaced_is_followed() {
    let folder = tempfile::tempdir().unwrap();
    let inner = folder.path().join("conf");
    let file = inner.join("resilience.yaml");
    fs::create_dir(&inner).unwrap();
    write(&file, 1);
    let mut watched = Watched::with(folder, file);
    let aside = watched.folder.path().join("old");
    fs::rename(&inner, aside).unwrap();
    fs::create_dir(&inner).unwrap();
    write(&watched.file, 4);
    watched.until(4).await;
    write(&watched.file, 5);
    watched.until(5).await;
}
