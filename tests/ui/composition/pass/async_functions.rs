//! Free functions, methods in every `self` form, generics, lifetimes, patterns, `?` and `return`.

#![forbid(unsafe_code)]
#![deny(warnings, clippy::pedantic)]
#![allow(clippy::unused_async, clippy::missing_errors_doc, dead_code)]

use std::{fmt::Debug, pin::Pin, sync::Arc};

use resilience::{Error, bulkhead, circuit_breaker, rate_limiter, retry, time_limiter};

#[derive(Debug)]
enum Failure {
    Parse,
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

/// Keeps its documentation.
#[retry(wait_duration = "0ms")]
#[circuit_breaker(name = "parseCb")]
#[rate_limiter]
#[time_limiter(name = "parseTl")]
#[bulkhead(name = "parseBh", max_concurrent_calls = 4)]
async fn parse(text: &str, mut base: u32, (low, high): (u32, u32)) -> Result<u32, Failure> {
    if text.is_empty() {
        return Err(Failure::Parse);
    }
    base += text.parse::<u32>()?;
    Ok(base.clamp(low, high))
}

#[retry]
async fn aliased(text: String) -> Outcome<String> {
    Ok(text)
}

#[circuit_breaker]
async fn never_ends() -> Result<(), Failure> {
    panic!("always")
}

#[retry]
async fn generic<T, const N: usize>(
    values: [T; N],
    show: impl Fn(&T) -> String + Clone,
) -> Outcome<String>
where
    T: Clone + Debug,
{
    Ok(values.iter().map(show).collect())
}

#[retry]
async fn borrowed<'a>(text: &'a str, _unused: &u8) -> Outcome<&'a str> {
    Ok(text)
}

#[retry]
async fn opaque_value() -> Result<impl Debug, Failure> {
    "7".parse::<u32>()?;
    Ok(7)
}

#[retry(mut_ok)]
async fn exclusive(
    list: &mut Vec<u32>,
    Wrap(x): Wrap,
    [a, _]: &[u32; 2],
    _: String,
) -> Outcome<usize> {
    list.push(x + a);
    grow(list);
    Ok(list.len())
}

fn grow(list: &mut Vec<u32>) {
    list.push(1);
}

#[derive(Clone)]
struct Wrap(u32);

/// The error is no part of what the future keeps, so it need not be `Send`.
#[retry]
#[circuit_breaker]
async fn error_not_send() -> Result<u32, Box<dyn std::error::Error>> {
    tokio::task::yield_now().await;
    Ok("7".parse()?)
}

#[retry]
async fn generic_error<E: std::error::Error + From<Error>>(fail: bool) -> Result<u32, E> {
    if fail { unreachable!() } else { Ok(1) }
}

struct Borrowing<'a>(&'a str);

impl From<Error> for Borrowing<'_> {
    fn from(_: Error) -> Self {
        Self("refused")
    }
}

#[retry(wait_duration = "0ms")]
async fn error_borrows<'a>(text: &'a str) -> Result<u32, Borrowing<'a>> {
    Err(Borrowing(text))
}

#[retry]
async fn configured(
    #[cfg(any())] gone: NoSuchType,
    #[cfg(all())] mut here: String,
) -> Outcome<usize> {
    here.push('!');
    Ok(here.len())
}

#[circuit_breaker]
async fn not_clone(not_clone: NotClone, mut other: NotClone) -> Outcome<u32> {
    other.0 += not_clone.0;
    Ok(other.0)
}

struct NotClone(u32);

#[time_limiter(detach)]
#[retry]
async fn detached(text: String) -> Result<String, Failure> {
    Ok(text)
}

#[bulkhead(type = "thread_pool", max_thread_pool_size = 2)]
#[time_limiter]
#[retry]
fn blocking(text: String) -> Result<usize, Failure> {
    if text.is_empty() {
        return Err(Failure::Parse);
    }
    text.parse::<u32>()?;
    Ok(text.len())
}

#[derive(Debug, Clone, Default)]
struct Service {
    calls: u32,
    names: Vec<String>,
}

fn call(f: impl FnOnce()) {
    f();
}

impl Service {
    #[retry]
    async fn shared(&self, add: u32) -> Outcome<u32> {
        let _shown = format!("{self:?}");
        Ok(self.calls + add)
    }

    #[retry(mut_ok)]
    async fn exclusive(&mut self, add: u32) -> Outcome<u32> {
        let _shown = format!("{self:?}");
        self.calls += add;
        touch(self);
        let this = self;
        this.calls += 1;
        Ok(this.calls)
    }

    #[retry(mut_ok)]
    async fn exclusive_moved_on(&mut self, add: u32) -> Outcome<u32> {
        let this = &mut *self;
        let add = move || this.calls += add;
        async move { call(add) }.await;
        Ok(self.calls)
    }

    #[circuit_breaker]
    async fn lends_out(&mut self) -> Outcome<&mut String> {
        self.names.push(String::new());
        self.names.last_mut().ok_or(Failure::Parse)
    }

    #[retry]
    async fn lends_shared(&self) -> Outcome<&str> {
        self.names.first().map(String::as_str).ok_or(Failure::Parse)
    }

    #[retry]
    async fn owned(self) -> Outcome<u32> {
        let _shown = format!("{self:?}");
        Ok(self.calls)
    }

    #[retry]
    async fn owned_mut(mut self) -> Outcome<Self> {
        self.calls += 1;
        Ok(self)
    }

    #[retry]
    async fn in_arc(self: Arc<Self>, text: String) -> Outcome<usize> {
        let other = tokio::spawn(async move { self.calls });
        other.await.map_err(|_| Failure::Parse)?;
        Ok(text.len())
    }

    #[retry]
    async fn in_ref_arc(self: &Arc<Self>) -> Outcome<u32> {
        Ok(self.calls)
    }

    #[circuit_breaker]
    async fn pinned(self: Pin<&mut Self>) -> Outcome<u32> {
        Ok(self.calls)
    }

    #[bulkhead(type = "thread_pool")]
    fn blocking(self: Arc<Self>) -> Outcome<u32> {
        Ok(self.calls)
    }
}

fn touch(service: &mut Service) {
    service.calls += 1;
}

trait Gateway {
    #[allow(async_fn_in_trait)]
    async fn declared(&self) -> Outcome<u32>;

    #[allow(async_fn_in_trait)]
    #[retry]
    async fn provided(&self) -> Outcome<u32> {
        self.declared().await
    }
}

impl Gateway for Service {
    #[retry]
    #[circuit_breaker]
    async fn declared(&self) -> Outcome<u32> {
        Ok(self.calls)
    }
}

fn send<T: Send>(value: T) -> T {
    value
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    assert_eq!(send(parse("40", 2, (0, 100))).await.unwrap(), 42);
    assert!(matches!(parse("x", 2, (0, 100)).await, Err(Failure::Parse)));
    assert_eq!(send(aliased("a".into())).await.unwrap(), "a");
    assert_eq!(send(generic([1, 2], |n| n.to_string())).await.unwrap(), "12");
    assert_eq!(send(borrowed("b", &0)).await.unwrap(), "b");
    assert!(send(opaque_value()).await.is_ok());
    assert_eq!(send(exclusive(&mut vec![], Wrap(1), &[2, 3], String::new())).await.unwrap(), 2);
    assert_eq!(send(not_clone(NotClone(1), NotClone(2))).await.unwrap(), 3);
    assert_eq!(send(detached("d".into())).await.unwrap(), "d");
    assert_eq!(send(blocking("123".into())).await.unwrap(), 3);
    assert_eq!(send(configured("c".into())).await.unwrap(), 2);
    assert_eq!(send(error_not_send()).await.unwrap(), 7);
    assert_eq!(send(generic_error::<Error>(false)).await.unwrap(), 1);
    assert_eq!(send(error_borrows("text")).await.map_err(|error| error.0), Err("text"));
    let mut service = Service::default();
    assert_eq!(send(Pin::new(&mut service).pinned()).await.unwrap(), 0);
    assert_eq!(send(service.shared(1)).await.unwrap(), 1);
    assert_eq!(send(service.exclusive(1)).await.unwrap(), 3);
    send(service.lends_out()).await.unwrap().push('x');
    assert_eq!(send(service.lends_shared()).await.unwrap(), "x");
    assert_eq!(send(service.declared()).await.unwrap(), 3);
    assert_eq!(service.provided().await.unwrap(), 3);
    assert_eq!(send(service.clone().owned()).await.unwrap(), 3);
    assert_eq!(send(service.clone().owned_mut()).await.unwrap().calls, 4);
    let service = Arc::new(service);
    assert_eq!(send(service.clone().in_arc("four".into())).await.unwrap(), 4);
    assert_eq!(send(service.in_ref_arc()).await.unwrap(), 3);
    assert_eq!(send(service.blocking()).await.unwrap(), 3);
}
