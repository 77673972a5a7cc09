// wrong: "http_5xx"
// instead: remove one of them

use resilience::{Error, ErrorKind};

#[derive(ErrorKind)]
enum PaymentError {
    #[error_kind(from, "http_5xx")]
    Refused(Error),
}

fn main() {}
