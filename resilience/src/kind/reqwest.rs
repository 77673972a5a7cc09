//! Kinds of HTTP clients' errors.

use std::{borrow::Cow, error::Error as _};

use super::{ErrorKind, table::table};
use crate::{Error, chain::first_refusal};

macro_rules! statuses {
    ($($status:literal: $class:literal),* $(,)?) => {
        table! {
            /// The status by itself, then its class.
            fn of_status(status: u16) {
                $($status => [concat!("http_", $status), $class],)*
                500.. => ["http_5xx"],
                _ => ["http_4xx"],
            }
        }
    };
}

// Those that IANA has registered, and those that common proxies add.
statuses!(
    400: "http_4xx", 401: "http_4xx", 402: "http_4xx", 403: "http_4xx", 404: "http_4xx",
    405: "http_4xx", 406: "http_4xx", 407: "http_4xx", 408: "http_4xx", 409: "http_4xx",
    410: "http_4xx", 411: "http_4xx", 412: "http_4xx", 413: "http_4xx", 414: "http_4xx",
    415: "http_4xx", 416: "http_4xx", 417: "http_4xx", 418: "http_4xx", 421: "http_4xx",
    422: "http_4xx", 423: "http_4xx", 424: "http_4xx", 425: "http_4xx", 426: "http_4xx",
    428: "http_4xx", 429: "http_4xx", 431: "http_4xx", 451: "http_4xx", 499: "http_4xx",
    500: "http_5xx", 501: "http_5xx", 502: "http_5xx", 503: "http_5xx", 504: "http_5xx",
    505: "http_5xx", 506: "http_5xx", 507: "http_5xx", 508: "http_5xx", 510: "http_5xx",
    511: "http_5xx", 520: "http_5xx", 521: "http_5xx", 522: "http_5xx", 523: "http_5xx",
    524: "http_5xx", 525: "http_5xx", 526: "http_5xx", 530: "http_5xx",
);

/// The kinds of errors that are no status; what breaks off on the way is `io` as well.
pub(super) const OTHERS: &[&str] =
    &["timeout", "connect", "io", "request", "body", "decode", "redirect", "builder", "upgrade"];

impl ErrorKind for reqwest::Error {
    fn kinds(&self) -> &'static [&'static str] {
        match self {
            error if let Some(status) = error.status() => of_status(status.as_u16()),
            error if error.is_timeout() && error.is_connect() => &["timeout", "connect", "io"],
            error if error.is_timeout() => &["timeout", "io"],
            error if error.is_connect() => &["connect", "io"],
            error if error.is_request() => &["request", "io"],
            error if error.is_body() => &["body", "io"],
            error if error.is_decode() => &["decode"],
            error if error.is_redirect() => &["redirect"],
            error if error.is_builder() => &["builder"],
            error if error.is_upgrade() => &["upgrade"],
            _ => &[],
        }
    }

    fn refusal(&self) -> Option<Cow<'_, Error>> {
        first_refusal(self.source())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(status: u16) -> reqwest::Error {
        let response = http::Response::builder().status(status).body(String::new()).unwrap();
        reqwest::Response::from(response).error_for_status().unwrap_err()
    }

    #[test]
    fn a_status_is_a_kind_by_itself_and_of_its_class() {
        assert_eq!(status(503).kinds(), ["http_503", "http_5xx"]);
        assert_eq!(status(404).kinds(), ["http_404", "http_4xx"]);
        assert_eq!(status(599).kinds(), ["http_5xx"]);
        assert_eq!(status(452).kinds(), ["http_4xx"]);
    }

    #[test]
    fn what_cannot_be_sent_is_a_mistake_of_the_builder() {
        let error = reqwest::Client::new().get("nowhere").build().unwrap_err();
        assert_eq!(error.kinds(), ["builder"]);
    }
}
