// wrong: ""
// instead: a word in snake_case

use resilience::ErrorKind;

#[derive(ErrorKind)]
enum Failure {
    #[error_kind("")]
    Broken,
}

fn main() {}
