// wrong: http_4xx
// instead: write `#[error_kind("group", ..)]`

use resilience::ErrorKind;

#[derive(ErrorKind)]
enum Failure {
    #[error_kind(http_4xx)]
    Declined,
}

fn main() {}
