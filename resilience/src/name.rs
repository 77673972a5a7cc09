//! Names of instances as errors carry them.

use std::{collections::HashSet, fmt, sync::Arc};

use crate::sync::plain::Mutex;

/// How many names are kept for good.
const MOST_KEPT: usize = 4_096;

/// The name of an instance. To clone one that is kept for good writes to no memory that other threads
/// clone it from: an instance that refuses does so for all of them at once.
#[derive(Clone)]
pub(crate) struct Name(Repr);

#[derive(Clone)]
enum Repr {
    Kept(&'static str),
    Shared(Arc<str>),
}

impl Name {
    /// Keeps the name until the process ends, unless there are very many: a program has few of them, but
    /// nothing keeps it from making up new ones all the time.
    pub(crate) fn kept(name: &Arc<str>) -> Self {
        static KEPT: Mutex<Option<HashSet<&'static str>>> = Mutex::new(None);
        let mut kept = KEPT.lock();
        let kept = kept.get_or_insert_default();
        if let Some(name) = kept.get(&**name) {
            return Self(Repr::Kept(name));
        }
        if kept.len() >= MOST_KEPT {
            return Self(Repr::Shared(Arc::clone(name)));
        }
        let name = Box::leak(Box::<str>::from(&**name));
        kept.insert(name);
        Self(Repr::Kept(name))
    }

    pub(crate) fn as_str(&self) -> &str {
        match &self.0 {
            Repr::Kept(name) => name,
            Repr::Shared(name) => name,
        }
    }
}

impl From<Arc<str>> for Name {
    fn from(name: Arc<str>) -> Self {
        Self(Repr::Shared(name))
    }
}

impl From<&'static str> for Name {
    fn from(name: &'static str) -> Self {
        Self(Repr::Kept(name))
    }
}

impl PartialEq for Name {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for Name {}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_str().fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_comes_again_is_the_same_memory() {
        let [one, other] = ["a name", "a name"].map(|name| Name::kept(&name.into()));
        assert!(std::ptr::eq(one.as_str(), other.as_str()));
        assert_eq!((one.to_string(), format!("{one:?}")), ("a name".into(), "\"a name\"".into()));
    }

    #[test]
    fn names_are_equal_whether_they_are_kept_or_not() {
        let name: Arc<str> = "some name".into();
        assert_eq!(Name::kept(&name), Name::from(Arc::clone(&name)));
        assert_eq!(Name::from("some name"), Name::from(name));
        assert_ne!(Name::from("some name"), Name::from("another"));
    }
}
