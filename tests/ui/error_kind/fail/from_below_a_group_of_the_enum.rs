// wrong: from
// instead: write them at each of the other variants

use resilience::{Error, ErrorKind};

#[derive(ErrorKind)]
#[error_kind("stock")]
enum StockError {
    SoldOut,
    #[error_kind(from)]
    Nested(Error),
}

fn main() {}
