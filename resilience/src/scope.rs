/// Whose a limit or a state is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Scope {
    /// Each process has one for itself.
    Local,
    /// All processes that share a store have it together.
    Global,
}

impl Scope {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Local => "local",
            Self::Global => "global",
        }
    }

    /// Reads a word that the key table has let through.
    pub(crate) fn of(word: &str) -> Self {
        if word == Self::Global.as_str() { Self::Global } else { Self::Local }
    }
}
