//! Reloads when files change.

use std::{
    collections::BTreeSet,
    ffi::OsString,
    fmt, io,
    path::{Path, PathBuf},
    sync::{Arc, Weak},
    thread,
    time::{Duration, Instant},
};

use notify::{
    Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher as _,
    event::{AccessKind, AccessMode, ModifyKind},
};

use super::{Inner, Resilience};
use crate::{
    config::{ConfigBuilder, ConfigError, Content, Problem},
    sync::plain::{Condvar, Mutex},
};

/// How long the files must be left alone before they are read.
const DEBOUNCE: Duration = Duration::from_millis(200);

/// How long they are waited for at most: a folder in which something is written all the time.
const MAX_DEBOUNCE: Duration = Duration::from_secs(2);

/// How often the files are looked at without any word of a change.
const LOOK_EVERY: Duration = Duration::from_secs(5);

impl Resilience {
    /// Reloads from `loader` whenever one of its files changes, until the watcher is dropped. It needs
    /// the feature `watch`, which is not on by default.
    ///
    /// A thread of its own hears of changes in the folders of the files and also looks at the files
    /// every 5 s, for the sake of network file systems, links into other folders and folders that are
    /// replaced. It reads them 200 ms after the last change, and reloads only if their contents are
    /// others than before. So it follows files that are written in place, replaced by renaming or
    /// deleted and written anew, and the links that Kubernetes swaps for a `ConfigMap`. A file that is
    /// missing, half written or wrong is a failed [reload](Resilience::reload): the configuration in
    /// force stays until the file is mended. So is one that has become empty, which else would mean
    /// defaults: most often somebody is about to write it.
    ///
    /// Give it the loader that the registry was filled from. What was changed since then is found
    /// when it begins.
    ///
    /// # Errors
    ///
    /// When the loader has no files, or the system gives no thread. Where it tells nothing of
    /// changes, the files are looked at every 5 s.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// use resilience::Config;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let loader = Config::builder().file("resilience.yaml");
    /// let registry = resilience::init(loader.clone().load()?)?;
    /// let watcher = registry.watch(loader)?; // for as long as this is kept
    /// # drop(watcher);
    /// # Ok(())
    /// # }
    /// ```
    pub fn watch(&self, loader: ConfigBuilder) -> io::Result<Watcher> {
        let files: Vec<PathBuf> = loader.files().map(Path::to_owned).collect();
        if files.is_empty() {
            let message = "the loader reads no files, so there is nothing to watch";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
        let signal = Arc::new(Signal::default());
        // From here on no change is missed; what was changed before is found by the first look.
        let folders = Folders::watch(&files, &signal);
        let watch = Watch {
            registry: Arc::downgrade(&self.inner),
            contents: loader.read(),
            empty_before: vec![false; files.len()],
            loader,
            folders,
            signal: Arc::clone(&signal),
        };
        thread::Builder::new().name("resilience-watch".to_owned()).spawn(move || watch.run())?;
        Ok(Watcher { signal })
    }
}

/// Keeps a registry reloading when files change: see [`Resilience::watch`]. Dropping it ends that.
///
/// It does not keep the registry alive.
#[must_use = "dropping the watcher ends the watching at once"]
pub struct Watcher {
    signal: Arc<Signal>,
}

/// No reload begins after this; one on its way is not waited for, as it may be what drops the watcher.
impl Drop for Watcher {
    fn drop(&mut self) {
        self.signal.stop();
    }
}

impl fmt::Debug for Watcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watcher").finish_non_exhaustive()
    }
}

/// What the watching thread waits for.
#[derive(Default)]
struct Signal {
    state: Mutex<State>,
    bell: Condvar,
}

#[derive(Default)]
struct State {
    changed: bool,
    stopped: bool,
}

/// Why a wait has ended.
#[derive(Debug, PartialEq, Eq)]
enum Woken {
    Changed,
    TimedOut,
    Stopped,
}

impl Signal {
    fn change(&self) {
        self.state.lock().changed = true;
        self.bell.notify_all();
    }

    fn stop(&self) {
        self.state.lock().stopped = true;
        self.bell.notify_all();
    }

    fn is_stopped(&self) -> bool {
        self.state.lock().stopped
    }

    fn wait(&self, time: Duration) -> Woken {
        let quiet = |state: &mut State| !state.changed && !state.stopped;
        let mut state = self.bell.wait_while_for(self.state.lock(), time, quiet);
        if state.stopped {
            Woken::Stopped
        } else if std::mem::take(&mut state.changed) {
            Woken::Changed
        } else {
            Woken::TimedOut
        }
    }
}

/// What the thread owns.
struct Watch {
    registry: Weak<Inner>,
    loader: ConfigBuilder,
    /// The files as they were when they were last read.
    contents: Vec<Content>,
    /// Which files were empty when the registry was filled from them: that was meant.
    empty_before: Vec<bool>,
    folders: Folders,
    signal: Arc<Signal>,
}

impl Watch {
    fn run(mut self) {
        let Some(inner) = self.registry.upgrade() else { return };
        if inner.is_loaded_from(self.loader.with_contents(&self.contents)) {
            self.empty_before = self.contents.iter().map(is_empty).collect();
        } else {
            self.let_settle();
            self.contents = self.loader.read();
            self.reload(&inner);
        }
        drop(inner);
        loop {
            match self.signal.wait(LOOK_EVERY) {
                Woken::Stopped => return,
                Woken::Changed => self.let_settle(),
                Woken::TimedOut => {
                    self.folders.watch_again();
                    if self.loader.read() != self.contents {
                        self.let_settle();
                    }
                }
            }
            let Some(inner) = self.registry.upgrade() else { return };
            let contents = self.loader.read();
            if contents != self.contents {
                self.contents = contents;
                self.reload(&inner);
            }
        }
    }

    fn reload(&self, inner: &Inner) {
        if self.signal.is_stopped() {
            return;
        }
        // The outcome is told by events, metrics and log.
        let _ = inner.reload_by(|| {
            self.refuse_emptied()?;
            self.loader.with_contents(&self.contents).load()
        });
    }

    /// An empty file means defaults to a loader. One that has become empty is on its way to be written,
    /// or a mishap.
    fn refuse_emptied(&self) -> Result<(), ConfigError> {
        let states = self.loader.files().zip(&self.contents).zip(&self.empty_before);
        let emptied = states.filter(|((_, content), before)| is_empty(content) && !**before);
        let problems: Vec<Problem> = emptied
            .map(|((file, _), _)| {
                Problem::new(
                    "the file has become empty; put a comment into it if it is to declare nothing",
                )
                .place(file.display().to_string())
            })
            .collect();
        if problems.is_empty() { Ok(()) } else { Err(ConfigError::new(problems)) }
    }

    /// Waits for a while without changes: what is written in several steps is read once.
    fn let_settle(&self) {
        let start = Instant::now();
        while start.elapsed() < MAX_DEBOUNCE && self.signal.wait(DEBOUNCE) == Woken::Changed {}
    }
}

fn is_empty(content: &Content) -> bool {
    content.as_ref().is_ok_and(|bytes| bytes.trim_ascii().is_empty())
}

/// The folders of the files, as far as the system tells of changes in them.
struct Folders {
    paths: BTreeSet<PathBuf>,
    watcher: Option<RecommendedWatcher>,
}

impl Folders {
    fn watch(files: &[PathBuf], signal: &Arc<Signal>) -> Self {
        let paths = files.iter().map(|file| folder(file)).collect();
        let names: BTreeSet<OsString> =
            files.iter().filter_map(|file| file.file_name().map(ToOwned::to_owned)).collect();
        let signal = Arc::clone(signal);
        let heard = move |event: notify::Result<Event>| {
            if event.map_or(true, |event| matters(&event, &names)) {
                signal.change();
            }
        };
        let watcher = notify::recommended_watcher(heard).inspect_err(log_deaf).ok();
        let mut folders = Self { paths, watcher };
        if let Some(watcher) = &mut folders.watcher {
            for path in &folders.paths {
                if let Err(error) = watcher.watch(path, RecursiveMode::NonRecursive) {
                    log_deaf(&error);
                }
            }
        }
        folders
    }

    /// What was watched may not be what is at these paths now.
    fn watch_again(&mut self) {
        let Some(watcher) = &mut self.watcher else { return };
        for path in &self.paths {
            // Where it fails there is no such folder at present, and the files are missing too.
            let _ = watcher.unwatch(path);
            let _ = watcher.watch(path, RecursiveMode::NonRecursive);
        }
    }
}

fn folder(file: &Path) -> PathBuf {
    match file.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    }
}

/// Whether an event may be about the files of these names: what is written into other files is not,
/// but any name that comes or goes may be a link on the way to them. That a file is read is no event
/// for us, who read them.
fn matters(event: &Event, names: &BTreeSet<OsString>) -> bool {
    match event.kind {
        EventKind::Access(AccessKind::Close(AccessMode::Write))
        | EventKind::Modify(ModifyKind::Data(_) | ModifyKind::Metadata(_)) => {
            event.paths.iter().any(|path| path.file_name().is_none_or(|name| names.contains(name)))
        }
        EventKind::Access(_) => false,
        _ => true,
    }
}

fn log_deaf(error: &notify::Error) {
    #[cfg(feature = "tracing")]
    crate::harmless::harmless(|| {
        tracing::warn!(
            target: "resilience",
            "the system does not tell of changed configuration files ({error}); they are looked at \
             every {LOOK_EVERY:?}"
        );
    });
    #[cfg(not(feature = "tracing"))]
    let _ = error;
}

#[cfg(test)]
mod tests {
    use notify::event::{CreateKind, DataChange, RenameMode};

    use super::*;
    use crate::Config;

    #[test]
    fn the_thread_ends_with_the_watcher_and_does_not_keep_the_registry() {
        let loader = Config::builder().env(false).file("Cargo.toml");
        let registry = Resilience::from_config(Config::default()).unwrap();
        let watcher = registry.watch(loader).unwrap();
        let signal = Arc::downgrade(&watcher.signal);
        drop(watcher);
        let start = Instant::now();
        while signal.strong_count() > 0 {
            assert!(start.elapsed() < LOOK_EVERY / 2, "the thread still runs");
            thread::yield_now();
        }
        assert_eq!(Arc::strong_count(&registry.inner), 1);
    }

    #[test]
    fn a_loader_without_files_is_refused() {
        let registry = Resilience::from_config(Config::default()).unwrap();
        let error = registry.watch(Config::builder()).unwrap_err();
        assert!(error.to_string().contains("no files"), "{error}");
    }

    #[test]
    fn reading_is_no_change_and_neither_is_what_is_written_into_other_files() {
        let names = BTreeSet::from([OsString::from("a.yaml")]);
        let matters = |kind: EventKind, path: &str| {
            matters(&Event::new(kind).add_path(PathBuf::from(path)), &names)
        };
        let written = EventKind::Modify(ModifyKind::Data(DataChange::Any));
        assert!(matters(written, "conf/a.yaml"));
        assert!(!matters(written, "conf/log.txt"));
        assert!(!matters(EventKind::Access(AccessKind::Open(AccessMode::Any)), "conf/a.yaml"));
        assert!(!matters(EventKind::Access(AccessKind::Close(AccessMode::Read)), "conf/a.yaml"));
        assert!(matters(EventKind::Create(CreateKind::File), "conf/a.yaml"));
        assert!(matters(EventKind::Modify(ModifyKind::Name(RenameMode::To)), "conf/..data"));
        assert!(matters(EventKind::Other, "conf"), "events were lost");
    }
}
