//! Error kinds: the words by which configuration lists (`record_errors`, `ignore_errors`,
//! `retry_errors`) name errors.

mod io;
mod known;
#[cfg(feature = "reqwest")]
mod reqwest;
#[cfg(feature = "sqlx")]
mod sqlx;
mod table;
#[cfg(feature = "tonic")]
mod tonic;

use std::{borrow::Cow, convert::Infallible, rc::Rc, sync::Arc};

use crate::{
    BulkheadFull, CallError, CallNotPermitted, Error, MaxRetriesExceeded, RequestNotPermitted,
    TimedOut,
};

pub(crate) use known::kinds_of;

/// An error that says which kinds it is of, so that configuration lists can name it.
///
/// `#[derive(ErrorKind)]` implements it for an enum: every variant is of the kind that is its name
/// in `snake_case`, and of the groups given by `#[error_kind("…")]`; `#[error_kind(from)]` takes the
/// kinds of the error inside.
///
/// # Ready kinds
///
/// | error | kinds, its own first |
/// |---|---|
/// | the refusals | `call_not_permitted`, `request_not_permitted`, `bulkhead_full`, `timeout`, `max_retries_exceeded` |
/// | `std::io::Error` | `timeout`; `connect` with `connection_refused`, `host_unreachable`, …; `connection_reset`, `broken_pipe`, `unexpected_eof`, `not_found`, … as [`std::io::ErrorKind`] has them; all are `io` |
/// | `reqwest::Error`, feature `reqwest` | `timeout`, `connect`, `request`, `body`, which are all `io`; `decode`, `redirect`, `builder`, `upgrade`; of a status `http_503` and the class `http_5xx` or `http_4xx` |
/// | `tonic::Status`, feature `tonic` | its code: `unavailable`, `not_found`, …; `deadline_exceeded` is also `timeout`, and `unavailable` also `connect` and `io` where no connection could be made |
/// | `sqlx::Error`, feature `sqlx` | `unique_violation` and its like, which are `constraint_violation`; these and all other answers of the database are `database`; `pool_timed_out` (also `timeout`), `pool_closed`, `row_not_found`, `tls` (also `io`), `protocol`, `decode`, `encode`, `configuration`, `driver`, `worker_crashed`, `begin_failed`; those of the `std::io::Error` inside |
/// | `dyn std::error::Error` | those of the error behind it, if it is one of the above |
/// | a reference, `Box`, `Rc`, `Arc`, `Option`, [`CallError`] | those of what is inside |
///
/// # Examples
///
/// ```
/// use resilience::ErrorKind;
///
/// struct Declined;
///
/// impl ErrorKind for Declined {
///     fn kinds(&self) -> &'static [&'static str] {
///         &["declined", "http_4xx"]
///     }
/// }
/// assert!(Declined.kinds().contains(&"http_4xx"));
/// ```
///
/// A refusal that travels inside is lent where it is a [`Error`](crate::Error), and given where it is
/// one of its structs:
///
/// ```
/// use std::borrow::Cow;
///
/// use resilience::{CallNotPermitted, Error, ErrorKind};
///
/// enum StockError {
///     Refused(Error),
///     Open(CallNotPermitted),
/// }
///
/// impl ErrorKind for StockError {
///     fn kinds(&self) -> &'static [&'static str] {
///         &[]
///     }
///
///     fn refusal(&self) -> Option<Cow<'_, Error>> {
///         Some(match self {
///             StockError::Refused(refusal) => Cow::Borrowed(refusal),
///             StockError::Open(open) => Cow::Owned(open.clone().into()),
///         })
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no error kinds: it does not implement `ErrorKind`",
    label = "has no error kinds",
    note = "write `#[derive(resilience::ErrorKind)]` on the type if it is yours",
    note = "errors of `reqwest`, `tonic` and `sqlx` have kinds with the feature of that name"
)]
pub trait ErrorKind {
    /// The kinds of this error in `snake_case`, its own first, then its groups.
    fn kinds(&self) -> &'static [&'static str];

    /// The refusal of a nested protected call that travels inside this error.
    ///
    /// It counts in the outer call as what it is: an open inner breaker is not retried.
    fn refusal(&self) -> Option<Cow<'_, Error>> {
        None
    }
}

impl ErrorKind for Error {
    fn kinds(&self) -> &'static [&'static str] {
        Error::kinds(self)
    }

    fn refusal(&self) -> Option<Cow<'_, Error>> {
        Some(Cow::Borrowed(self))
    }
}

macro_rules! refusals {
    ($($refusal:ident: $kind:literal),*) => {$(
        impl ErrorKind for $refusal {
            fn kinds(&self) -> &'static [&'static str] {
                &[$kind]
            }

            fn refusal(&self) -> Option<Cow<'_, Error>> {
                Some(Cow::Owned(self.clone().into()))
            }
        }
    )*};
}

refusals!(
    CallNotPermitted: "call_not_permitted",
    RequestNotPermitted: "request_not_permitted",
    BulkheadFull: "bulkhead_full",
    TimedOut: "timeout",
    MaxRetriesExceeded: "max_retries_exceeded"
);

impl<E: ErrorKind> ErrorKind for CallError<E> {
    fn kinds(&self) -> &'static [&'static str] {
        match self {
            CallError::Inner(error) => error.kinds(),
            CallError::Resilience(refusal) => Error::kinds(refusal),
        }
    }

    fn refusal(&self) -> Option<Cow<'_, Error>> {
        match self {
            CallError::Inner(error) => error.refusal(),
            CallError::Resilience(refusal) => Some(Cow::Borrowed(refusal)),
        }
    }
}

macro_rules! pointers {
    ($($pointer:ty),*) => {$(
        impl<E: ErrorKind + ?Sized> ErrorKind for $pointer {
            fn kinds(&self) -> &'static [&'static str] {
                (**self).kinds()
            }

            fn refusal(&self) -> Option<Cow<'_, Error>> {
                (**self).refusal()
            }
        }
    )*};
}

pointers!(&E, Box<E>, Rc<E>, Arc<E>);

/// An error that may be missing is of no kind then.
impl<E: ErrorKind> ErrorKind for Option<E> {
    fn kinds(&self) -> &'static [&'static str] {
        self.as_ref().map_or(&[], E::kinds)
    }

    fn refusal(&self) -> Option<Cow<'_, Error>> {
        self.as_ref().and_then(E::refusal)
    }
}

impl ErrorKind for Infallible {
    fn kinds(&self) -> &'static [&'static str] {
        match *self {}
    }
}

/// Whether a configuration list names an error: by one of its own kinds, or by that of the refusal
/// that it is or carries.
pub(crate) fn is_listed(
    list: &[String],
    kinds: &'static [&'static str],
    refusal: Option<&Error>,
) -> bool {
    let carried = refusal.map_or(&[][..], Error::kinds);
    kinds.iter().chain(carried).any(|kind| list.iter().any(|listed| listed == kind))
}

/// Kinds that exist without any derive.
const BUILT_IN: &[&str] = &[
    "call_not_permitted",
    "request_not_permitted",
    "bulkhead_full",
    "timeout",
    "max_retries_exceeded",
];

/// The same of errors of other crates.
const OF_OTHERS: &[&[&[&str]]] = &[
    io::DECLARED,
    #[cfg(feature = "reqwest")]
    reqwest::DECLARED,
    #[cfg(feature = "reqwest")]
    &[reqwest::OTHERS],
    #[cfg(feature = "sqlx")]
    sqlx::DECLARED,
    #[cfg(feature = "sqlx")]
    &[sqlx::OTHERS],
    #[cfg(feature = "tonic")]
    tonic::DECLARED,
];

/// The kinds that one `#[derive(ErrorKind)]` declares; collected over the whole program.
#[doc(hidden)]
#[derive(Debug)]
pub struct DeclaredKinds {
    /// The kinds and groups of the type.
    pub kinds: &'static [&'static str],
}

inventory::collect!(DeclaredKinds);

/// Every kind that some linked code declares.
pub(crate) fn declared() -> impl Iterator<Item = &'static str> {
    let derived = inventory::iter::<DeclaredKinds>.into_iter().flat_map(|d| d.kinds.iter());
    let of_others = OF_OTHERS.iter().copied().flatten().copied().flatten();
    BUILT_IN.iter().chain(of_others).chain(derived).copied()
}
