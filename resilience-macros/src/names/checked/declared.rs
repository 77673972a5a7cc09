use std::{
    path::{Path, PathBuf, absolute},
    sync::Arc,
};

use resilience_config::{ConfigError, Content, Loaded, Loader};

use super::{
    broken::Broken,
    cache::{Cache, Key},
    metadata::Metadata,
};

/// How many of a configuration's problems one message tells.
const SHOWN: usize = 10;

/// How many files one message names.
const SHOWN_FILES: usize = 5;

/// What files declare.
pub(super) struct Declared {
    pub(super) loaded: Loaded,
    /// The files as they were named.
    names: Vec<String>,
    /// Their absolute paths.
    pub(super) files: Vec<String>,
}

/// What came of the files that a crate names.
static LOADED: Cache<Result<Arc<Declared>, Arc<Broken>>> = Cache::new();

impl Declared {
    /// Loads the files that `named` names, from `directory` on; once, while they stay as they are. The
    /// error is what the loader says, for the reader of a compiler's message.
    pub(super) fn load(directory: &Path, named: &Metadata) -> Result<Arc<Declared>, Arc<Broken>> {
        let paths: Vec<PathBuf> = named.config.iter().map(|file| directory.join(file)).collect();
        let key = Key::of(paths.iter().map(PathBuf::as_path), &named.profiles);
        LOADED.get_or_make(key, || match read(&paths, named) {
            Ok(declared) => Ok(Arc::new(declared)),
            Err(message) => Err(Arc::new(Broken::new(message))),
        })
    }

    /// The files, as far as a message names them.
    pub(super) fn shown(&self) -> String {
        let shown = &self.names[..self.names.len().min(SHOWN_FILES)];
        let more = match self.names.len().saturating_sub(SHOWN_FILES) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        format!("{}{more}", shown.join(", "))
    }

    /// The start of what they say.
    pub(super) fn declares(&self) -> String {
        let one_of = if self.names.len() == 1 { "" } else { "one of " };
        format!("{one_of}{} declares", self.shown())
    }

    /// The start of what they do not.
    pub(super) fn has_no(&self, name: &str) -> String {
        match self.names.as_slice() {
            [only] => format!("{only} has no `{name}`"),
            _ => format!("none of {} has `{name}`", self.shown()),
        }
    }
}

fn read(paths: &[PathBuf], named: &Metadata) -> Result<Declared, String> {
    let mut by_path = Loader::new();
    // Messages are to name the files as the user does.
    let mut by_name = Loader::new();
    for (path, name) in paths.iter().zip(&named.config) {
        by_path.file(path);
        by_name.file(name);
    }
    let contents = by_path.read();
    let mut loader = by_name.with_contents(&contents);
    loader.env(false);
    loader.ahead_of_start(true);
    for profile in &named.profiles {
        loader.profile(profile);
    }
    let found = loader.load().map_err(|error| explain(&error, &contents, paths))?;
    let files = paths.iter().map(|path| tracked(path)).collect::<Result<_, _>>()?;
    Ok(Declared { loaded: found, names: named.config.clone(), files })
}

/// The path in a form that the compiler finds from everywhere.
pub(super) fn tracked(path: &Path) -> Result<String, String> {
    let path = absolute(path).map_err(|error| format!("{}: {error}", path.display()))?;
    path.into_os_string().into_string().map_err(|path| {
        format!("the path {} is not UTF-8: rename its folders, or remove `config`", path.display())
    })
}

fn explain(error: &ConfigError, contents: &[Content], paths: &[PathBuf]) -> String {
    let message = error.first(SHOWN).to_string();
    let missing = contents.iter().zip(paths).find(|(content, _)| content.is_err());
    match missing {
        Some((_, path)) => {
            let path = path.display();
            format!("{message}\n`config` is a path from the folder of Cargo.toml on, here {path}")
        }
        None => message,
    }
}
