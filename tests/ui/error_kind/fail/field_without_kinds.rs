// wrong: Opaque
// instead: write `#[derive(resilience::ErrorKind)]` on the type

use resilience::ErrorKind;

struct Opaque;

#[derive(ErrorKind)]
enum PaymentError {
    #[error_kind(from)]
    Provider(Opaque),
}

fn main() {}
