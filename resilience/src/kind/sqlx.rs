//! Kinds of databases' errors.

use std::{borrow::Cow, error::Error as _};

use sqlx::error::{Error as Sqlx, ErrorKind as Violation};

use super::{ErrorKind, table::table};
use crate::{Error, chain::first_refusal};

table! {
    /// What the database itself answered.
    fn of_answer(answer: Violation) {
        Violation::UniqueViolation => ["unique_violation", "constraint_violation", "database"],
        Violation::ForeignKeyViolation =>
            ["foreign_key_violation", "constraint_violation", "database"],
        Violation::NotNullViolation => ["not_null_violation", "constraint_violation", "database"],
        Violation::CheckViolation => ["check_violation", "constraint_violation", "database"],
        Violation::ExclusionViolation => ["exclusion_violation", "constraint_violation", "database"],
        _ => ["database"],
    }
}

/// The kinds of what is no answer of the database.
pub(super) const OTHERS: &[&str] = &[
    "io",
    "tls",
    "protocol",
    "row_not_found",
    "pool_timed_out",
    "timeout",
    "pool_closed",
    "worker_crashed",
    "configuration",
    "decode",
    "encode",
    "driver",
    "begin_failed",
];

impl ErrorKind for Sqlx {
    fn kinds(&self) -> &'static [&'static str] {
        match self {
            Sqlx::Database(answer) => of_answer(answer.kind()),
            Sqlx::Io(error) => error.kinds(),
            Sqlx::Tls(_) => &["tls", "io"],
            Sqlx::Protocol(_) => &["protocol"],
            Sqlx::RowNotFound => &["row_not_found"],
            Sqlx::PoolTimedOut => &["pool_timed_out", "timeout"],
            Sqlx::PoolClosed => &["pool_closed"],
            Sqlx::WorkerCrashed => &["worker_crashed"],
            Sqlx::Configuration(_) => &["configuration"],
            Sqlx::TypeNotFound { .. }
            | Sqlx::ColumnIndexOutOfBounds { .. }
            | Sqlx::ColumnNotFound(_)
            | Sqlx::ColumnDecode { .. }
            | Sqlx::Decode(_) => &["decode"],
            Sqlx::InvalidArgument(_) | Sqlx::Encode(_) => &["encode"],
            Sqlx::AnyDriverError(_) => &["driver"],
            Sqlx::BeginFailed => &["begin_failed"],
            _ => &[],
        }
    }

    fn refusal(&self) -> Option<Cow<'_, Error>> {
        first_refusal(self.source())
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    #[test]
    fn an_error_of_the_client_is_of_the_kind_of_its_variant() {
        assert_eq!(Sqlx::RowNotFound.kinds(), ["row_not_found"]);
        assert_eq!(Sqlx::PoolTimedOut.kinds(), ["pool_timed_out", "timeout"]);
        assert_eq!(Sqlx::Decode("not a number".into()).kinds(), ["decode"]);
        let reset = io::Error::from(io::ErrorKind::ConnectionReset);
        assert_eq!(Sqlx::Io(reset).kinds(), ["connection_reset", "io"]);
    }
}
