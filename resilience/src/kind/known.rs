//! Errors behind a trait object: what is known of them, they are by a downcast.

use std::{borrow::Cow, error::Error as StdError, io};

use super::ErrorKind;
use crate::{
    BulkheadFull, CallNotPermitted, Error, MaxRetriesExceeded, RequestNotPermitted, TimedOut,
    chain::first_refusal,
};

/// The kinds of an error of a type that this crate knows.
pub(crate) fn kinds_of(error: &(dyn StdError + 'static)) -> &'static [&'static str] {
    macro_rules! first {
        ($($(#[$condition:meta])? $known:ty),* $(,)?) => {$(
            $(#[$condition])?
            if let Some(known) = error.downcast_ref::<$known>() {
                return ErrorKind::kinds(known);
            }
        )*};
    }
    first!(
        io::Error,
        Error,
        CallNotPermitted,
        RequestNotPermitted,
        BulkheadFull,
        TimedOut,
        MaxRetriesExceeded,
        #[cfg(feature = "reqwest")]
        reqwest::Error,
        #[cfg(feature = "sqlx")]
        sqlx::Error,
        #[cfg(feature = "tonic")]
        tonic::Status,
    );
    &[]
}

macro_rules! objects {
    ($($object:ty),*) => {$(
        /// The kinds of the error itself where this crate knows its type: a `std::io::Error`, a
        /// refusal, and by feature those of other crates.
        impl ErrorKind for $object {
            fn kinds(&self) -> &'static [&'static str] {
                kinds_of(self)
            }

            fn refusal(&self) -> Option<Cow<'_, Error>> {
                first_refusal(Some(self))
            }
        }
    )*};
}

objects!(
    dyn StdError + 'static,
    dyn StdError + Send + 'static,
    dyn StdError + Send + Sync + 'static
);

#[cfg(test)]
mod tests {
    use super::*;

    type Boxed = Box<dyn StdError + Send + Sync>;

    #[test]
    fn a_boxed_error_keeps_its_kinds() {
        assert_eq!(Boxed::from(io::Error::other("worn out")).kinds(), ["io"]);
        let refusal = Error::from(BulkheadFull::new("b".into()));
        let boxed = Boxed::from(refusal.clone());
        assert_eq!(boxed.kinds(), ["bulkhead_full"]);
        assert_eq!(boxed.refusal().as_deref(), Some(&refusal));
        assert!(Boxed::from("unknown").kinds().is_empty());
    }

    #[cfg(feature = "sqlx")]
    #[test]
    fn a_boxed_database_error_keeps_its_kinds() {
        assert_eq!(Boxed::from(sqlx::Error::RowNotFound).kinds(), ["row_not_found"]);
    }

    #[cfg(feature = "tonic")]
    #[test]
    fn a_boxed_status_keeps_its_kinds() {
        assert_eq!(Boxed::from(tonic::Status::aborted("")).kinds(), ["aborted"]);
    }
}
