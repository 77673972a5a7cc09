use std::{
    fs,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
    time::SystemTime,
};

/// How many results are kept: a crate has one configuration, rarely two, and an editor keeps the process
/// for all the crates that are open in it.
const KEPT: usize = 64;

/// What was made of files, for as long as they stay as they are.
///
/// Every annotated function of a crate asks for the same; an editor asks again and again.
pub(super) struct Cache<T> {
    kept: Mutex<Vec<(Key, T)>>,
}

/// What a result depends on.
#[derive(PartialEq, Eq)]
pub(super) struct Key {
    files: Vec<Stamp>,
    profiles: Vec<String>,
}

/// What tells that a file was changed.
#[derive(PartialEq, Eq)]
struct Stamp {
    path: PathBuf,
    /// `None` where it cannot be looked at.
    state: Option<(Option<SystemTime>, u64)>,
}

impl Key {
    /// To be taken before the files are read: a change meanwhile makes another key.
    pub(super) fn of<'a>(files: impl Iterator<Item = &'a Path>, profiles: &[String]) -> Self {
        Self { files: files.map(Stamp::of).collect(), profiles: profiles.to_vec() }
    }
}

impl Stamp {
    fn of(path: &Path) -> Self {
        let state = fs::metadata(path).ok().map(|found| (found.modified().ok(), found.len()));
        Self { path: path.to_owned(), state }
    }
}

impl<T: Clone> Cache<T> {
    pub(super) const fn new() -> Self {
        Self { kept: Mutex::new(Vec::new()) }
    }

    /// What was made of files in this state; `make` makes it the first time. The oldest gives way.
    pub(super) fn get_or_make(&self, key: Key, make: impl FnOnce() -> T) -> T {
        // A panic while something was made has left nothing half done in the list.
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, known)) = kept.iter().find(|(known, _)| *known == key) {
            return known.clone();
        }
        let value = make();
        if kept.len() == KEPT {
            kept.remove(0);
        }
        kept.push((key, value.clone()));
        value
    }
}

#[cfg(test)]
mod tests {
    use std::{cell::Cell, env, process};

    use super::*;

    #[test]
    fn a_result_is_kept_until_its_file_changes() {
        let path = env::temp_dir().join(format!("resilience-cache-{}", process::id()));
        let (cache, times) = (Cache::new(), Cell::new(0));
        let get = |profiles: &[String]| {
            let key = Key::of([path.as_path()].into_iter(), profiles);
            cache.get_or_make(key, || {
                times.set(times.get() + 1);
                times.get()
            })
        };
        assert_eq!((get(&[]), get(&[])), (1, 1), "a file that is not there is one state");
        fs::write(&path, "a").expect("a file");
        assert_eq!((get(&[]), get(&[])), (2, 2));
        fs::write(&path, "ab").expect("a file");
        assert_eq!((get(&[]), get(&[])), (3, 3), "another length");
        assert_eq!(get(&["prod".to_owned()]), 4, "other profiles");
        fs::remove_file(&path).expect("the file");
    }

    #[test]
    fn the_oldest_result_gives_way() {
        let cache = Cache::new();
        let get = |n: usize| {
            let key = Key::of(std::iter::empty(), &[n.to_string()]);
            let made = Cell::new(false);
            cache.get_or_make(key, || made.set(true));
            made.get()
        };
        assert!((0..=KEPT).all(get));
        assert!(!get(KEPT) && !get(1), "kept");
        assert!(get(0), "made again");
    }
}
