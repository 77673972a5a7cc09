use resilience::{Error, ErrorKind};

#[derive(ErrorKind)]
enum PaymentError {
    #[error_kind(from, "http_5xx")]
    Both(Error),
    #[error_kind(from)]
    Nothing,
    #[error_kind(from)]
    Two(Error, u32),
}

#[derive(ErrorKind)]
#[error_kind("stock")]
enum StockError {
    SoldOut,
    #[error_kind(from)]
    Nested(Error),
}

#[derive(ErrorKind)]
#[error_kind(from)]
enum Above {
    Nested(Error),
}

fn main() {}
