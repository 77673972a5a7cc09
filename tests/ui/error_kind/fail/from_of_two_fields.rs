// wrong: from
// instead: one that is called `source`

use resilience::{Error, ErrorKind};

#[derive(ErrorKind)]
enum PaymentError {
    #[error_kind(from)]
    Two(Error, u32),
}

fn main() {}
