//! Every function form, under edition 2021 and a renamed dependency.

// The attributes ask for the signatures of predicates and fallbacks.
#![allow(
    clippy::needless_pass_by_value,
    clippy::trivially_copy_pass_by_ref,
    clippy::unnecessary_wraps
)]

use std::{future::Future, pin::Pin, sync::Arc};

use guard::{
    bulkhead, circuit_breaker, rate_limiter, retry, time_limiter, CallError, Error, ErrorKind,
};

#[derive(Debug, ErrorKind)]
#[error_kind("failures")]
enum Failure {
    Parse,
    #[allow(dead_code)]
    Refused(Error),
}

impl From<Error> for Failure {
    fn from(refused: Error) -> Self {
        Self::Refused(refused)
    }
}

impl From<std::num::ParseIntError> for Failure {
    fn from(_: std::num::ParseIntError) -> Self {
        Self::Parse
    }
}

type Outcome<T> = Result<T, Failure>;

#[retry(wait_duration = "0ms", fallback = parse_later)]
#[circuit_breaker(name = "parse", record = is_failure)]
#[rate_limiter]
#[time_limiter]
#[bulkhead]
async fn parse(text: &str, mut base: u32, (low, high): (u32, u32)) -> Outcome<u32> {
    base += text.parse::<u32>()?;
    Ok(base.clamp(low, high))
}

fn is_failure(_: &Failure) -> bool {
    true
}

async fn parse_later(text: &str, base: u32, _: (u32, u32), _: CallError<Failure>) -> Outcome<u32> {
    Ok(base + u32::try_from(text.len()).unwrap_or(0))
}

#[retry]
async fn generic<T: Clone, const N: usize>(
    values: [T; N],
    show: impl Fn(&T) -> String + Clone,
) -> Outcome<String> {
    Ok(values.iter().map(show).collect())
}

#[retry]
fn opaque(text: &str) -> impl Future<Output = Outcome<usize>> + Send + '_ {
    async move { Ok(text.len()) }
}

#[retry]
fn boxed(text: &str) -> Pin<Box<dyn Future<Output = Outcome<usize>> + Send + '_>> {
    Box::pin(async move { Ok(text.len()) })
}

#[time_limiter(detach)]
async fn detached(text: String) -> Outcome<usize> {
    Ok(text.len())
}

#[bulkhead(type = "thread_pool")]
fn blocking(text: String) -> Outcome<usize> {
    Ok(text.len())
}

#[derive(Debug)]
struct Service(u32);

impl Service {
    #[retry]
    async fn shared(&self, add: u32) -> Outcome<u32> {
        Ok(self.0 + add)
    }

    #[retry(mut_ok, fallback = Self::later)]
    async fn exclusive(&mut self, add: u32) -> Outcome<u32> {
        self.0 += add;
        let this = self;
        Ok(this.0)
    }

    fn later(&mut self, _: u32, error: CallError<Failure>) -> Outcome<u32> {
        error.resilience().map(|_| self.0).ok_or(Failure::Parse)
    }

    #[circuit_breaker]
    async fn lends_out(&mut self) -> Outcome<&mut u32> {
        Ok(&mut self.0)
    }

    #[retry]
    async fn in_arc(self: Arc<Self>) -> Outcome<u32> {
        Ok(self.0)
    }
}

#[async_trait::async_trait]
trait Gateway {
    async fn shared(&self, text: String) -> Outcome<usize>;
    async fn exclusive(&mut self, add: u32) -> Outcome<u32>;
}

#[async_trait::async_trait]
impl Gateway for Service {
    #[retry]
    #[circuit_breaker(name = "gateway")]
    async fn shared(&self, text: String) -> Outcome<usize> {
        let _shown = format!("{self:?}");
        Ok(text.len())
    }

    #[retry(mut_ok)]
    async fn exclusive(&mut self, add: u32) -> Outcome<u32> {
        self.0 += add;
        Ok(self.0)
    }
}

#[retry]
#[tracing::instrument(skip(text))]
#[circuit_breaker(name = "instrumented")]
async fn instrumented_between(text: String, id: u32) -> Outcome<usize> {
    assert_eq!(id, 1);
    Ok(text.len())
}

#[tracing::instrument]
#[retry]
async fn instrumented_above(text: String) -> Outcome<usize> {
    Ok(text.len())
}

#[retry(crate = resilience_tests_2021::vendored::resilience)]
#[circuit_breaker]
async fn through_another_crate(text: String) -> Outcome<usize> {
    Ok(text.len())
}

macro_rules! through_a_macro {
    ($crate_path:path, $name:ident, $argument:ident: $ty:ty) => {
        #[retry(crate = $crate_path)]
        async fn $name($argument: $ty, added: usize) -> Outcome<usize> {
            Ok($argument.len() + added)
        }
    };
}

through_a_macro!(guard, made_by_a_macro, text: String);

fn send<T: Send>(value: T) -> T {
    value
}

#[tokio::test]
async fn l09_every_form_works() {
    assert_eq!(send(parse("40", 2, (0, 100))).await.unwrap(), 42);
    assert_eq!(send(parse("x", 2, (0, 100))).await.unwrap(), 3);
    assert_eq!(send(generic([1, 2], ToString::to_string)).await.unwrap(), "12");
    assert_eq!(send(opaque("ab")).await.unwrap(), 2);
    assert_eq!(send(boxed("abc")).await.unwrap(), 3);
    assert_eq!(send(detached("d".into())).await.unwrap(), 1);
    assert_eq!(send(blocking("bc".into())).await.unwrap(), 2);
    assert_eq!(send(instrumented_between("i".into(), 1)).await.unwrap(), 1);
    assert_eq!(send(instrumented_above("i".into())).await.unwrap(), 1);
    assert_eq!(send(through_another_crate("t".into())).await.unwrap(), 1);
    assert_eq!(send(made_by_a_macro("t".into(), 1)).await.unwrap(), 2);
    let mut service = Service(1);
    assert_eq!(send(Service::shared(&service, 1)).await.unwrap(), 2);
    assert_eq!(send(Service::exclusive(&mut service, 1)).await.unwrap(), 2);
    *send(service.lends_out()).await.unwrap() = 3;
    assert_eq!(send(Gateway::shared(&service, "abc".into())).await.unwrap(), 3);
    assert_eq!(send(Gateway::exclusive(&mut service, 1)).await.unwrap(), 4);
    assert_eq!(send(Arc::new(service).in_arc()).await.unwrap(), 4);
}

#[derive(ErrorKind)]
#[error_kind("elsewhere", crate = resilience_tests_2021::vendored::resilience)]
struct OutOfStock;

#[test]
fn the_derive_takes_the_path_of_the_crate() {
    assert_eq!(OutOfStock.kinds(), ["out_of_stock", "elsewhere"]);
}

#[test]
fn the_derive_finds_the_renamed_crate() {
    assert_eq!(Failure::Parse.kinds(), ["parse", "failures"]);
}
