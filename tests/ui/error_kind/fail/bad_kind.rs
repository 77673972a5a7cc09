use resilience::ErrorKind;

#[derive(ErrorKind)]
#[error_kind("Http 5xx")]
enum Failure {
    #[error_kind(http_4xx)]
    Declined,
    #[error_kind("")]
    Broken,
}

#[derive(ErrorKind)]
union Bits {
    a: u32,
}

fn main() {}
