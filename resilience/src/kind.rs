//! Error kinds: the words by which configuration lists (`record_errors`, `ignore_errors`,
//! `retry_errors`) name errors.

use std::{borrow::Cow, io, sync::Arc};

use crate::{
    BulkheadFull, CallError, CallNotPermitted, Error, MaxRetriesExceeded, RequestNotPermitted,
    TimedOut, chain::first_refusal,
};

/// An error that says which kinds it is of, so that configuration lists can name it.
///
/// `#[derive(ErrorKind)]` implements it for an enum: every variant is of the kind that is its name
/// in `snake_case`, and of the groups given by `#[error_kind("…")]`.
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
    ($($pointer:ident),*) => {$(
        impl<E: ErrorKind + ?Sized> ErrorKind for $pointer<E> {
            fn kinds(&self) -> &'static [&'static str] {
                (**self).kinds()
            }

            fn refusal(&self) -> Option<Cow<'_, Error>> {
                (**self).refusal()
            }
        }
    )*};
}

pointers!(Box, Arc);

impl ErrorKind for io::Error {
    fn kinds(&self) -> &'static [&'static str] {
        match self.kind() {
            io::ErrorKind::TimedOut => &["timeout", "io"],
            io::ErrorKind::ConnectionRefused
            | io::ErrorKind::HostUnreachable
            | io::ErrorKind::NetworkUnreachable
            | io::ErrorKind::AddrNotAvailable => &["connect", "io"],
            _ => &["io"],
        }
    }

    fn refusal(&self) -> Option<Cow<'_, Error>> {
        let custom: &(dyn std::error::Error + 'static) = self.get_ref()?;
        first_refusal(Some(custom))
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

/// Kinds that exist without any derive: the library's refusals, `std::io::Error` and the groups
/// that HTTP clients use.
pub(crate) const BUILT_IN: &[&str] = &[
    "call_not_permitted",
    "request_not_permitted",
    "bulkhead_full",
    "timeout",
    "max_retries_exceeded",
    "io",
    "connect",
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
    BUILT_IN.iter().chain(derived).copied()
}
