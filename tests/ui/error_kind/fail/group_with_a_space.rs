// wrong: "Http 5xx"
// instead: a word in snake_case

use resilience::ErrorKind;

#[derive(ErrorKind)]
#[error_kind("Http 5xx")]
enum Failure {
    Declined,
}

fn main() {}
