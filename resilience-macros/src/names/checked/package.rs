use std::{
    env, fs, io,
    path::{Path, PathBuf},
    sync::Arc,
};

use super::{
    broken::Broken,
    cache::{Cache, Key},
    declared::{Declared, tracked},
    metadata::Metadata,
};

/// What came of manifests.
static MANIFESTS: Cache<Result<Option<Arc<Metadata>>, Arc<Broken>>> = Cache::new();

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
    ///
    /// # Errors
    ///
    /// What is wrong with the file.
    pub(super) fn declared_in(&self, file: &str) -> Result<Arc<Declared>, Arc<Broken>> {
        let named = Metadata { config: vec![file.to_owned()], profiles: Vec::new() };
        Declared::load(&self.directory, &named)
    }

    /// What the files declare that the manifest names, if it names any.
    ///
    /// # Errors
    ///
    /// What is wrong with the manifest or the files.
    pub(super) fn declared(&self) -> Result<Option<Arc<Declared>>, Arc<Broken>> {
        let manifest = self.manifest();
        let key = Key::of([manifest.as_path()].into_iter(), &[]);
        let metadata = MANIFESTS.get_or_make(key, || match read(&manifest) {
            Ok(metadata) => Ok(metadata.map(Arc::new)),
            Err(message) => Err(Arc::new(Broken::new(message))),
        });
        metadata?.map(|named| Declared::load(&self.directory, &named)).transpose()
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

/// A manifest that is not there names nothing: the compiler was called by hand. It is read whole, as
/// Cargo has read it.
fn read(manifest: &Path) -> Result<Option<Metadata>, String> {
    match fs::read_to_string(manifest) {
        Ok(text) => Metadata::read(&text),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(format!("Cargo.toml: cannot read the file: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manifest_that_cannot_be_read_is_told_and_one_that_is_not_there_is_not() {
        let folder = env::temp_dir();
        assert_eq!(read(&folder.join("no-such-folder/Cargo.toml")), Ok(None));
        let error = read(&folder).expect_err("a folder is no manifest");
        assert!(error.starts_with("Cargo.toml: cannot read the file: "), "{error}");
    }
}
