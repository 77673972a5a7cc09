use std::{
    env,
    path::{Path, PathBuf},
    sync::Arc,
};

use resilience_config::read_file;

use super::{
    cache::{Cache, Key},
    declared::{Declared, tracked},
    metadata::Metadata,
};

/// The result of a load, shared with whoever asks for the same.
pub(super) type Shared = Arc<Result<Declared, String>>;

/// What came of manifests.
static MANIFESTS: Cache<Result<Option<Metadata>, String>> = Cache::new();

/// The package that is being compiled.
pub(super) struct Package {
    directory: PathBuf,
}

impl Package {
    /// `None` where no Cargo is at work.
    pub(super) fn current() -> Option<Self> {
        env::var_os("CARGO_MANIFEST_DIR").map(|directory| Self { directory: directory.into() })
    }

    /// What the file declares that an attribute names.
    pub(super) fn declared_in(&self, file: &str) -> Shared {
        let named = Metadata { config: vec![file.to_owned()], profiles: Vec::new() };
        Declared::load(&self.directory, &named)
    }

    /// What the files declare that the manifest names, if it names any.
    ///
    /// # Errors
    ///
    /// What is wrong with the manifest.
    pub(super) fn declared(&self) -> Result<Option<Shared>, String> {
        let manifest = self.manifest();
        let key = Key::of([manifest.as_path()].into_iter(), &[]);
        let metadata = MANIFESTS.get_or_make(key, || read(&manifest));
        let metadata = metadata.as_ref().as_ref().map_err(Clone::clone)?;
        Ok(metadata.as_ref().map(|named| Declared::load(&self.directory, named)))
    }

    /// The manifest's absolute path, if there is one: what it names may change.
    pub(super) fn tracked_manifest(&self) -> Option<String> {
        let manifest = self.manifest();
        if manifest.is_file() { tracked(&manifest).ok() } else { None }
    }

    fn manifest(&self) -> PathBuf {
        self.directory.join("Cargo.toml")
    }
}

/// A manifest that is not there names nothing: the compiler was called by hand.
fn read(manifest: &Path) -> Result<Option<Metadata>, String> {
    let Ok(bytes) = read_file(manifest) else { return Ok(None) };
    match str::from_utf8(&bytes) {
        Ok(text) => Metadata::read(text),
        Err(_) => Err("Cargo.toml is not UTF-8".to_owned()),
    }
}
