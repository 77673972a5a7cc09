//! What the derive makes of enums and structs.

#![deny(warnings)]
#![allow(dead_code)]

use std::io;

use resilience::{Error, ErrorKind};

#[derive(Debug, thiserror::Error, ErrorKind)]
#[error_kind("payment")]
enum PaymentError {
    #[error("declined")]
    #[error_kind("http_4xx", "declined")]
    CardDeclined,
    #[error("status {status}")]
    #[error_kind("http_5xx")]
    Server { status: u16 },
    #[error(transparent)]
    Refused(#[from] Error),
    #[error(transparent)]
    Anything(Box<dyn std::error::Error + Send + Sync>),
    #[error("with a source")]
    WithSource { id: u32, source: Nested },
    #[error("io")]
    Io(#[from] io::Error),
    #[error("two fields")]
    Two(Error, u32),
}

#[derive(Debug, thiserror::Error, ErrorKind)]
#[error("nested")]
struct Nested(#[source] Error);

#[derive(ErrorKind)]
enum Generic<'a, T: Clone, const N: usize>
where
    T: Send,
{
    Carries(T),
    Lends(&'a [T; N]),
}

#[derive(ErrorKind)]
struct Unit;

#[derive(ErrorKind)]
enum Never {}

fn main() {
    assert_eq!(
        PaymentError::CardDeclined.kinds(),
        ["card_declined", "http_4xx", "declined", "payment"]
    );
    assert_eq!(PaymentError::Server { status: 500 }.kinds(), ["server", "http_5xx", "payment"]);
    assert!(PaymentError::CardDeclined.refusal().is_none());
    assert_eq!(Unit.kinds(), ["unit"]);
    assert_eq!(Generic::<u8, 1>::Carries(1).kinds(), ["carries"]);
}
