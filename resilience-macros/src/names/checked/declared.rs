use std::{
    path::{Path, PathBuf, absolute},
    sync::Arc,
};

use resilience_config::{ConfigError, Content, Loaded, Loader};

use super::{
    cache::{Cache, Key},
    metadata::Metadata,
};

/// How many of a configuration's problems one message tells.
const SHOWN: usize = 10;

/// What files declare.
pub(super) struct Declared {
    pub(super) loaded: Loaded,
    /// The files as they were named, for messages.
    pub(super) shown: String,
    /// Their absolute paths.
    pub(super) files: Vec<String>,
}

/// What came of the files that a crate names.
static LOADED: Cache<Result<Declared, String>> = Cache::new();

impl Declared {
    /// Loads the files that `named` names, from `directory` on; once, while they stay as they are. The
    /// error is what the loader says, for the reader of a compiler's message.
    pub(super) fn load(directory: &Path, named: &Metadata) -> Arc<Result<Declared, String>> {
        let paths: Vec<PathBuf> = named.config.iter().map(|file| directory.join(file)).collect();
        let key = Key::of(paths.iter().map(PathBuf::as_path), &named.profiles);
        LOADED.get_or_make(key, || read(&paths, named))
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
    Ok(Declared { loaded: found, shown: named.config.join(" and "), files })
}

/// The path in a form that the compiler finds from everywhere.
pub(super) fn tracked(path: &Path) -> Result<String, String> {
    let path = absolute(path).map_err(|error| format!("{}: {error}", path.display()))?;
    path.into_os_string().into_string().map_err(|path| {
        format!("the path {} is not UTF-8: rename its folders, or remove `config`", path.display())
    })
}

fn explain(error: &ConfigError, contents: &[Content], paths: &[PathBuf]) -> String {
    let problems = error.problems();
    let mut lines = match problems {
        [only] => vec![only.to_string()],
        several => {
            let head = format!("{} problems in the configuration:", several.len());
            let shown = several.iter().take(SHOWN).map(|problem| format!("  - {problem}"));
            [head].into_iter().chain(shown).collect()
        }
    };
    if problems.len() > SHOWN {
        lines.push("  - …".to_owned());
    }
    let missing = contents.iter().zip(paths).find(|(content, _)| content.is_err());
    if let Some((_, path)) = missing {
        let path = path.display();
        lines.push(format!("`config` is a path from the folder of Cargo.toml on, here {path}"));
    }
    lines.join("\n")
}
