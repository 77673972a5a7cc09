//! Functions that return futures, and what `async_trait` makes of a method.

#![deny(warnings)]
#![allow(dead_code)]

use std::{future::Future, pin::Pin, sync::Arc};

use resilience::{CallError, Error, circuit_breaker, retry, time_limiter};

type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;
type Plain = Pin<Box<dyn Future<Output = Result<u32, Error>> + Send>>;

#[retry]
#[time_limiter]
fn opaque(text: &str, mut n: u32) -> impl Future<Output = Result<usize, Error>> + Send {
    n += 1;
    async move { Ok(text.len() + n as usize) }
}

#[retry]
fn opaque_block(text: String) -> impl Future<Output = Result<usize, Error>> + Send {
    async move {
        if text.is_empty() {
            return Ok(0);
        }
        Ok(text.len())
    }
}

#[circuit_breaker]
fn boxed(text: &str) -> BoxFuture<'_, Result<usize, Error>> {
    Box::pin(async move { Ok(text.len()) })
}

#[retry]
fn boxed_written_out<'a>(
    text: &'a str,
) -> Pin<Box<dyn Future<Output = Result<usize, Error>> + Send + 'a>> {
    if text.is_empty() {
        return Box::pin(async { Ok(0) });
    }
    Box::pin(async move { Ok(text.len()) })
}

#[retry]
fn boxed_by_alias(n: u32) -> Plain {
    let n = n + 1;
    Box::pin(async move { Ok(n) })
}

#[derive(Debug, Clone)]
struct Service(u32);

impl Service {
    #[retry]
    fn opaque(&self) -> impl Future<Output = Result<u32, Error>> + Send + '_ {
        async move { Ok(self.0) }
    }

    #[retry(mut_ok)]
    fn exclusive(&mut self, add: u32) -> impl Future<Output = Result<u32, Error>> + Send {
        async move {
            self.0 += add;
            let this = self;
            Ok(this.0)
        }
    }

    #[retry]
    fn owned(self: Arc<Self>) -> BoxFuture<'static, Result<u32, Error>> {
        Box::pin(async move { Ok(self.0) })
    }
}

#[async_trait::async_trait]
trait Gateway {
    async fn shared(&self, text: String) -> Result<usize, Error>;
    async fn exclusive(&mut self, (a, b): (u32, u32)) -> Result<u32, Error>;
    async fn owned(self: Arc<Self>) -> Result<u32, Error>;

    #[retry]
    async fn provided(&self, mut n: u32) -> Result<u32, Error> {
        n += 1;
        Ok(n)
    }
}

#[async_trait::async_trait]
impl Gateway for Service {
    #[retry]
    #[circuit_breaker(name = "sharedCb", fallback = Self::on_failure)]
    async fn shared(&self, text: String) -> Result<usize, Error> {
        let _shown = format!("{self:?}");
        Ok(text.len())
    }

    #[retry(mut_ok)]
    async fn exclusive(&mut self, (a, b): (u32, u32)) -> Result<u32, Error> {
        self.0 += a;
        touch(self);
        Ok(self.0 + b)
    }

    #[retry]
    async fn owned(self: Arc<Self>) -> Result<u32, Error> {
        Ok(self.0)
    }
}

impl Service {
    async fn on_failure(&self, text: String, _: CallError<Error>) -> Result<usize, Error> {
        Ok(text.len())
    }
}

fn touch(service: &mut Service) {
    service.0 += 1;
}

fn send<T: Send>(value: T) -> T {
    value
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    assert_eq!(send(opaque("ab", 1)).await.unwrap(), 4);
    assert_eq!(send(opaque_block("ab".into())).await.unwrap(), 2);
    assert_eq!(send(boxed("abc")).await.unwrap(), 3);
    assert_eq!(send(boxed_written_out("abc")).await.unwrap(), 3);
    assert_eq!(send(boxed_by_alias(1)).await.unwrap(), 2);
    let mut service = Service(1);
    assert_eq!(send(Service::opaque(&service)).await.unwrap(), 1);
    assert_eq!(send(Service::exclusive(&mut service, 2)).await.unwrap(), 3);
    assert_eq!(send(Gateway::shared(&service, "abc".into())).await.unwrap(), 3);
    assert_eq!(send(Gateway::exclusive(&mut service, (1, 2))).await.unwrap(), 7);
    assert_eq!(send(service.provided(1)).await.unwrap(), 2);
    let service = Arc::new(service);
    assert_eq!(send(Service::owned(service.clone())).await.unwrap(), 5);
    assert_eq!(send(Gateway::owned(service)).await.unwrap(), 5);
}
