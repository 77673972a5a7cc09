//! Kinds of gRPC statuses, and refusals as statuses.

use std::{borrow::Cow, error::Error as StdError, iter::successors, sync::Arc};

use tonic::{Code, ConnectError, Status, TimeoutExpired};

use super::{ErrorKind, table::table};
use crate::{Error, chain::first_refusal};

table! {
    fn of_code(code: Code) {
        Code::Ok => ["ok"],
        Code::Cancelled => ["cancelled"],
        Code::Unknown => ["unknown"],
        Code::InvalidArgument => ["invalid_argument"],
        Code::DeadlineExceeded => ["deadline_exceeded", "timeout"],
        Code::NotFound => ["not_found"],
        Code::AlreadyExists => ["already_exists"],
        Code::PermissionDenied => ["permission_denied"],
        Code::ResourceExhausted => ["resource_exhausted"],
        Code::FailedPrecondition => ["failed_precondition"],
        Code::Aborted => ["aborted"],
        Code::OutOfRange => ["out_of_range"],
        Code::Unimplemented => ["unimplemented"],
        Code::Internal => ["internal"],
        Code::Unavailable => ["unavailable"],
        Code::DataLoss => ["data_loss"],
        Code::Unauthenticated => ["unauthenticated"],
    }
}

fn caused_by<E: StdError + 'static>(status: &Status) -> bool {
    successors(status.source(), |&error| error.source()).any(<dyn StdError>::is::<E>)
}

impl ErrorKind for Status {
    /// The name of the code. A connection that could not be made is `connect` besides, which a
    /// server's own UNAVAILABLE is not: that may have done something.
    fn kinds(&self) -> &'static [&'static str] {
        match self.code() {
            Code::Unavailable if caused_by::<ConnectError>(self) => {
                &["unavailable", "connect", "io"]
            }
            // The time limit of tonic's own client and server.
            Code::Cancelled if caused_by::<TimeoutExpired>(self) => &["cancelled", "timeout"],
            code => of_code(code),
        }
    }

    fn refusal(&self) -> Option<Cow<'_, Error>> {
        first_refusal(self.source())
    }
}

/// The status of [`Error::grpc_code`]; the metadata `retry-after` (seconds) and
/// `grpc-retry-pushback-ms` tell when to come back, where that is known. The text names no instance;
/// on this side, the refusal is the source.
impl From<Error> for Status {
    fn from(refusal: Error) -> Self {
        let mut status = Status::new(Code::from_i32(refusal.grpc_code()), refusal.public_text());
        if let Some(seconds) = refusal.retry_after_seconds() {
            status.metadata_mut().insert("retry-after", seconds.into());
        }
        if let Some(millis) = refusal.pushback_millis() {
            status.metadata_mut().insert("grpc-retry-pushback-ms", millis.into());
        }
        status.set_source(Arc::new(refusal));
        status
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::{CallNotPermitted, circuit_breaker::State};

    #[test]
    fn a_status_is_of_the_kind_of_its_code() {
        assert_eq!(Status::not_found("").kinds(), ["not_found"]);
        assert_eq!(Status::deadline_exceeded("").kinds(), ["deadline_exceeded", "timeout"]);
        assert_eq!(Status::unavailable("").kinds(), ["unavailable"]);
    }

    #[test]
    fn a_connection_that_could_not_be_made_is_of_the_kind_connect() {
        let status = Status::from_error(Box::new(ConnectError("refused".into())));
        assert_eq!(status.kinds(), ["unavailable", "connect", "io"]);
        let status = Status::from_error(Box::new(TimeoutExpired(())));
        assert_eq!(status.kinds(), ["cancelled", "timeout"]);
    }

    #[test]
    fn a_refusal_becomes_a_status_and_is_found_in_it() {
        let wait = Duration::from_micros(1_200_001);
        let refusal = Error::from(CallNotPermitted::new("secret".into(), State::Open, Some(wait)));
        let status = Status::from(refusal.clone());
        assert_eq!(status.code(), Code::Unavailable);
        assert_eq!(status.metadata().get("retry-after").unwrap(), "2");
        assert_eq!(status.metadata().get("grpc-retry-pushback-ms").unwrap(), "1201");
        assert!(!status.message().contains("secret"));
        assert_eq!(status.refusal().as_deref(), Some(&refusal));
    }
}
