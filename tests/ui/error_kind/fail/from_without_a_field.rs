// wrong: from
// instead: there must be one field

use resilience::ErrorKind;

#[derive(ErrorKind)]
enum PaymentError {
    #[error_kind(from)]
    Broken,
}

fn main() {}
