use resilience::ErrorKind;

struct Opaque;

#[derive(ErrorKind)]
enum PaymentError {
    #[error_kind(from)]
    Provider(Opaque),
    #[error_kind(from)]
    Boxed(Box<Opaque>),
}

fn main() {}
