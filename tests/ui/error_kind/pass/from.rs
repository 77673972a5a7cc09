//! Kinds that are those of the error inside.

#![deny(warnings)]
#![allow(dead_code)]

use std::{io, sync::Arc};

use resilience::{Error, ErrorKind};

#[derive(Debug, thiserror::Error, ErrorKind)]
enum StockError {
    #[error("sold out")]
    #[error_kind("http_4xx")]
    SoldOut,
    #[error(transparent)]
    #[error_kind(from)]
    Refused(#[from] Error),
}

#[derive(Debug, thiserror::Error, ErrorKind)]
enum OrderError {
    #[error(transparent)]
    #[error_kind(from)]
    Stock(#[from] StockError),
    #[error("order {id}")]
    #[error_kind(from)]
    Disk { id: u32, source: io::Error },
    #[error("boxed")]
    #[error_kind(from)]
    Boxed(Box<OrderError>),
    #[error("shared")]
    #[error_kind(from)]
    Shared(Arc<OrderError>),
    #[error("perhaps")]
    #[error_kind(from)]
    Perhaps(#[source] Option<io::Error>),
    #[error("anything")]
    #[error_kind(from)]
    Anything(Box<dyn std::error::Error + Send + Sync>),
    #[error("marked {1}")]
    #[error_kind(from)]
    Marked(#[source] io::Error, u32),
}

#[derive(ErrorKind)]
#[error_kind(from)]
struct Wrapper(io::Error);

/// No kind of its own, and none to register.
#[derive(ErrorKind)]
enum Layered<T, C: Client> {
    #[error_kind(from)]
    Inner(T),
    #[error_kind(from)]
    Client(C::Error),
    #[error_kind(from)]
    Again(Box<Layered<T, C>>),
}

trait Client {
    type Error;
}

struct Disk;

impl Client for Disk {
    type Error = io::Error;
}

/// A parameter that is not taken from needs no kinds.
#[derive(ErrorKind)]
enum Partly<T, U> {
    #[error_kind(from)]
    Known(T),
    Unknown(U),
}

/// Another type of the same name is not the type itself.
mod inner {
    #[derive(super::ErrorKind)]
    pub enum Layered<T> {
        #[error_kind(from)]
        Inner(T),
    }
}

mod outer {
    use super::inner;

    #[derive(super::ErrorKind)]
    pub enum Layered<T> {
        #[error_kind(from)]
        Inner(inner::Layered<T>),
        #[error_kind(from)]
        Again(Box<Self>),
        #[error_kind(from)]
        Written(Box<super::outer::Layered<T>>),
    }
}

#[derive(ErrorKind)]
enum Lent<'e, T> {
    #[error_kind(from)]
    Io(&'e io::Error),
    #[error_kind(from)]
    Any(&'e (dyn std::error::Error + 'static)),
    #[error_kind(from)]
    Again(&'e Lent<'e, T>),
    #[error_kind(from)]
    Other(&'e T),
}

fn main() {
    let sold_out = || OrderError::Stock(StockError::SoldOut);
    assert_eq!(sold_out().kinds(), ["sold_out", "http_4xx"]);
    assert_eq!(OrderError::Boxed(Box::new(sold_out())).kinds(), ["sold_out", "http_4xx"]);
    assert_eq!(OrderError::Shared(Arc::new(sold_out())).kinds(), ["sold_out", "http_4xx"]);
    let broken = || io::Error::from(io::ErrorKind::BrokenPipe);
    assert_eq!(OrderError::Disk { id: 1, source: broken() }.kinds(), ["broken_pipe", "io"]);
    assert_eq!(OrderError::Marked(broken(), 7).kinds(), ["broken_pipe", "io"]);
    assert_eq!(OrderError::Perhaps(Some(broken())).kinds(), ["broken_pipe", "io"]);
    assert!(OrderError::Perhaps(None).kinds().is_empty());
    assert_eq!(OrderError::Anything(broken().into()).kinds(), ["broken_pipe", "io"]);
    assert_eq!(Wrapper(broken()).kinds(), ["broken_pipe", "io"]);

    type Both = Layered<StockError, Disk>;
    assert_eq!(Both::Inner(StockError::SoldOut).kinds(), ["sold_out", "http_4xx"]);
    let nested = Both::Again(Box::new(Both::Client(broken())));
    assert_eq!(nested.kinds(), ["broken_pipe", "io"]);
    assert_eq!(Partly::<_, u8>::Known(broken()).kinds(), ["broken_pipe", "io"]);
    assert_eq!(Partly::<io::Error, u8>::Unknown(1).kinds(), ["unknown"]);
    let same_name = outer::Layered::Inner(inner::Layered::Inner(broken()));
    assert_eq!(outer::Layered::Again(Box::new(same_name)).kinds(), ["broken_pipe", "io"]);
    let (owned, shared) = (broken(), &sold_out());
    for lent in [Lent::Io(&owned), Lent::Any(&owned), Lent::Again(&Lent::Io(&owned))] {
        assert_eq!(lent.kinds(), ["broken_pipe", "io"]);
        assert!(!matches!(lent, Lent::Other(OrderError::Marked(..))));
    }
    assert_eq!(Lent::Other(shared).kinds(), ["sold_out", "http_4xx"]);

    let open = resilience::CircuitBreaker::new("stock", Default::default());
    open.transition_to(resilience::circuit_breaker::State::ForcedOpen).unwrap();
    let refusal = Error::from(open.try_acquire().unwrap_err());
    let order = OrderError::Boxed(Box::new(OrderError::Stock(refusal.clone().into())));
    assert_eq!(order.kinds(), ["call_not_permitted"]);
    assert_eq!(order.refusal().as_deref(), Some(&refusal));
}
