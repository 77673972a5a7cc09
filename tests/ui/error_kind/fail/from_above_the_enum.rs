// wrong: from
// instead: stands above the variant

use resilience::{Error, ErrorKind};

#[derive(ErrorKind)]
#[error_kind(from)]
enum Above {
    Nested(Error),
}

fn main() {}
