use std::{
    env,
    ffi::OsString,
    sync::{Mutex, PoisonError},
};

use proc_macro2::{Ident, Span};

/// How many crates are remembered: one is compiled at a time, and an editor has some open.
const KEPT: usize = 64;

/// What is wrong with a file that names are checked against: told in full once a crate.
///
/// A crate may have hundreds of functions that ask for the file.
pub(super) struct Broken {
    message: String,
    /// Who has told it, in each crate.
    told: Mutex<Vec<(Crate, Teller)>>,
}

#[derive(PartialEq, Eq)]
struct Crate([Option<OsString>; 2]);

struct Teller {
    function: String,
    place: Option<Place>,
}

#[derive(Clone)]
struct Place {
    file: String,
    line: usize,
}

impl Broken {
    pub(super) fn new(message: String) -> Self {
        Self { message, told: Mutex::new(Vec::new()) }
    }

    /// What a function is to say of it: everything, or who has said that.
    pub(super) fn tell(&self, function: &Ident, at: Span) -> String {
        let teller = Teller { function: function.to_string(), place: Place::of(at) };
        self.tell_as(Crate::current(), teller)
    }

    fn tell_as(&self, krate: Crate, teller: Teller) -> String {
        // A panic has left nothing half done in the list.
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        match told.iter_mut().find(|(known, _)| *known == krate) {
            Some((_, first)) if !first.is(&teller) => {
                return format!(
                    "the name is not checked: the error at {} tells what is wrong with the file",
                    first.shown()
                );
            }
            Some((_, first)) => *first = teller,
            None => {
                if told.len() == KEPT {
                    told.remove(0);
                }
                told.push((krate, teller));
            }
        }
        self.message.clone()
    }
}

impl Crate {
    fn current() -> Self {
        Self(["CARGO_MANIFEST_DIR", "CARGO_CRATE_NAME"].map(env::var_os))
    }
}

impl Teller {
    /// An editor expands a function again and again, and its line moves.
    fn is(&self, other: &Self) -> bool {
        let file = |teller: &Self| teller.place.as_ref().map(|place| place.file.clone());
        self.function == other.function && file(self) == file(other)
    }

    fn shown(&self) -> String {
        match &self.place {
            Some(Place { file, line }) => format!("`{}` ({file}:{line})", self.function),
            None => format!("`{}`", self.function),
        }
    }
}

impl Place {
    /// `None` where no compiler is at work, or an editor that does not tell.
    fn of(span: Span) -> Option<Self> {
        if !proc_macro::is_available() {
            return None;
        }
        let span = span.unwrap();
        let file = span.file();
        (!file.is_empty()).then(|| Self { file, line: span.line() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tell(broken: &Broken, krate: &str, function: &str, line: usize) -> String {
        let place = Some(Place { file: "src/lib.rs".to_owned(), line });
        let krate = Crate([Some(krate.into()), None]);
        broken.tell_as(krate, Teller { function: function.to_owned(), place })
    }

    #[test]
    fn the_first_function_of_a_crate_tells_all_and_does_so_again() {
        let broken = Broken::new("all".to_owned());
        assert_eq!(tell(&broken, "shop", "pay", 3), "all");
        assert!(tell(&broken, "shop", "order", 9).contains("`pay` (src/lib.rs:3)"));
        assert_eq!(tell(&broken, "stock", "order", 9), "all", "another crate");
        assert_eq!(tell(&broken, "shop", "pay", 5), "all", "an editor expands it anew");
        assert!(
            tell(&broken, "shop", "order", 11).contains("`pay` (src/lib.rs:5)"),
            "it has moved"
        );
    }

    #[test]
    fn the_crate_that_was_told_first_gives_way() {
        let broken = Broken::new("all".to_owned());
        for n in 0..=KEPT {
            assert_eq!(tell(&broken, &n.to_string(), "pay", 1), "all");
        }
        assert_ne!(tell(&broken, &KEPT.to_string(), "order", 1), "all", "kept");
        assert_eq!(tell(&broken, "0", "order", 1), "all", "forgotten");
    }
}
