//! The functions that the attributes name as predicates.
//!
//! An expansion asks them through these, so that one of the wrong type is reported at its path and
//! in the attribute's words.

use std::time::Duration;

use super::Nothing;

/// Marks a function.
#[derive(Debug)]
pub struct Function;

/// Marks what is none.
#[derive(Debug)]
pub struct NoFunction;

/// A predicate about errors.
#[diagnostic::on_unimplemented(
    message = "`retry_if`, `record` and `ignore` are `fn(&{E}) -> bool`: they take the function's \
               error by reference",
    label = "not a `fn(&{E}) -> bool`"
)]
pub trait AboutError<E, Kind> {
    /// Whether it holds.
    fn holds(self, error: &E) -> bool;
}

/// A predicate about values.
#[diagnostic::on_unimplemented(
    message = "`retry_result` and `record_result` are `fn(&{T}) -> bool`: they take the function's \
               value by reference",
    label = "not a `fn(&{T}) -> bool`"
)]
pub trait AboutValue<T, Kind> {
    /// Whether it holds.
    fn holds(self, value: &T) -> bool;
}

/// What an error says of time.
#[diagnostic::on_unimplemented(
    message = "`retry_after` and `open_for` are `fn(&{E}) -> Option<Duration>`: they take the \
               function's error by reference",
    label = "not a `fn(&{E}) -> Option<Duration>`"
)]
pub trait HowLong<E, Kind> {
    /// How long, if the error says so.
    fn asks(self, error: &E) -> Option<Duration>;
}

macro_rules! functions {
    ($($Asked:ident::$method:ident -> $Answer:ty),*) => {$(
        #[diagnostic::do_not_recommend]
        impl<V, F: FnOnce(&V) -> $Answer> $Asked<V, Function> for F {
            fn $method(self, value: &V) -> $Answer {
                self(value)
            }
        }

        #[diagnostic::do_not_recommend]
        impl<V, F: Nothing> $Asked<V, NoFunction> for F {
            fn $method(self, _value: &V) -> $Answer {
                self.never()
            }
        }
    )*};
}

functions!(AboutError::holds -> bool, AboutValue::holds -> bool, HowLong::asks -> Option<Duration>);

/// Asks a predicate about an error.
pub fn about_error<E, K>(error: &E, predicate: impl AboutError<E, K>) -> bool {
    predicate.holds(error)
}

/// Asks a predicate about a value.
pub fn about_value<T, K>(value: &T, predicate: impl AboutValue<T, K>) -> bool {
    predicate.holds(value)
}

/// Asks how long an error wants to be waited for.
pub fn how_long<E, K>(error: &E, predicate: impl HowLong<E, K>) -> Option<Duration> {
    predicate.asks(error)
}
