//! Every form of a fallback: which arguments it takes, which errors it handles, sync or async.

#![deny(warnings)]
#![allow(dead_code)]

use std::{rc::Rc, sync::Arc};

use resilience::{
    BulkheadFull, CallError, CallNotPermitted, Error, TimedOut, bulkhead, circuit_breaker, retry,
    time_limiter,
};

#[derive(Debug, Clone)]
struct Mine(String);
impl From<Error> for Mine {
    fn from(e: Error) -> Self {
        Mine(e.to_string())
    }
}
type R = Result<u32, Mine>;
impl std::fmt::Display for Mine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}
struct NotClone(u32);

#[circuit_breaker(fallback = alone)]
async fn error_alone(n: NotClone) -> R {
    if n.0 == 0 { Err(Mine("zero".into())) } else { Ok(n.0) }
}
fn alone(e: CallError<Mine>) -> R {
    Ok(u32::try_from(e.to_string().len()).unwrap_or(0))
}
#[circuit_breaker(fallback = with_arguments)]
async fn arguments(n: String, by_ref: &str) -> R {
    Err(Mine(n + by_ref))
}
async fn with_arguments(n: String, by_ref: &str, e: Mine) -> R {
    Ok(u32::try_from(n.len() + by_ref.len() + e.0.len()).unwrap_or(0))
}
#[retry(mut_ok, fallback = [on_open, on_timeout, on_full, on_mine])]
async fn list(fail: String, list: &mut Vec<u8>) -> R {
    list.push(0);
    Err(Mine(fail))
}
async fn on_open(_: CallNotPermitted) -> R {
    Ok(1)
}
async fn on_timeout(_: String, _: &mut Vec<u8>, _: TimedOut) -> R {
    Ok(2)
}
fn on_full(_: BulkheadFull) -> R {
    Ok(3)
}
fn on_mine(_: String, list: &mut Vec<u8>, _: Mine) -> R {
    Ok(list.len().try_into().unwrap_or(0))
}
#[derive(Debug)]
struct S(u32);
impl S {
    #[retry]
    #[circuit_breaker(fallback = Self::later)]
    async fn pay(&self, n: u32) -> R {
        Err(Mine(n.to_string()))
    }
    async fn later(&self, n: u32, e: Mine) -> R {
        Ok(self.0 + n + e.0.parse::<u32>().unwrap_or(0))
    }
    #[retry(mut_ok, fallback = S::mut_later)]
    async fn pay_mut(&mut self) -> R {
        self.0 += 1;
        Err(Mine(String::new()))
    }
    async fn mut_later(&mut self, _: CallError<Mine>) -> R {
        self.0 += 10;
        Ok(self.0)
    }
    #[circuit_breaker(fallback = S::arc_later)]
    async fn pay_arc(self: Arc<Self>, n: u32) -> R {
        Err(Mine(n.to_string()))
    }
    async fn arc_later(self: Arc<Self>, n: u32, _: Mine) -> R {
        Ok(self.0 + n)
    }
    #[circuit_breaker(fallback = S::borrowed_alone)]
    async fn borrow(&mut self) -> Result<&mut u32, Mine> {
        Ok(&mut self.0)
    }
    fn borrowed_alone<'a>(e: Mine) -> Result<&'a mut u32, Mine> {
        Err(e)
    }
    #[retry(fallback = Self::shared_later)]
    async fn borrow_shared(&self, n: u32) -> Result<&u32, Mine> {
        Err(Mine(n.to_string()))
    }
    async fn shared_later(&self, _: u32, _: CallError<Mine>) -> Result<&u32, Mine> {
        Ok(&self.0)
    }
    #[time_limiter(detach)]
    #[retry(fallback = S::detach_later)]
    async fn detach(self: Arc<Self>, n: String) -> R {
        Err(Mine(n))
    }
    async fn detach_later(self: Arc<Self>, n: String, _: Mine) -> R {
        Ok(self.0 + n.parse::<u32>().unwrap_or(0))
    }
}
#[circuit_breaker(fallback = in_the_caller)]
#[bulkhead(type = "thread_pool")]
fn blocking(mut n: String) -> R {
    n.push('!');
    Err(Mine(n))
}
async fn in_the_caller(n: String, e: Mine) -> R {
    Ok(u32::try_from(n.len() + e.0.len()).unwrap_or(0))
}
/// Neither value nor error is part of what the future keeps, so they need not be `Send`.
#[retry(fallback = [on_timeout_not_send, not_send_later, not_send_async])]
async fn not_send() -> Result<Rc<u32>, Box<dyn std::error::Error>> {
    tokio::task::yield_now().await;
    Err("no".into())
}
/// Nor where nothing is tried again.
#[circuit_breaker(fallback = [on_timeout_not_send, not_send_later, not_send_async])]
async fn not_send_once() -> Result<Rc<u32>, Box<dyn std::error::Error>> {
    tokio::task::yield_now().await;
    Err("no".into())
}
async fn on_timeout_not_send(_: TimedOut) -> Result<Rc<u32>, Box<dyn std::error::Error>> {
    Ok(Rc::new(1))
}
fn not_send_later(_: Box<dyn std::error::Error>) -> Result<Rc<u32>, Box<dyn std::error::Error>> {
    Ok(Rc::new(2))
}
async fn not_send_async(_: Error) -> Result<Rc<u32>, Box<dyn std::error::Error>> {
    tokio::task::yield_now().await;
    Ok(Rc::new(3))
}
type Boxed = Box<dyn std::error::Error + Send + Sync>;

#[retry(fallback = [boxed_later, boxed_business, boxed_anything])]
async fn boxed(text: &str) -> Result<usize, Boxed> {
    Err(text.into())
}
async fn boxed_later(_: &str, _: TimedOut) -> Result<usize, Boxed> {
    Ok(1)
}
async fn boxed_business(text: &str, _: Boxed) -> Result<usize, Boxed> {
    Ok(text.len())
}
fn boxed_anything(text: &str, _: CallError<Boxed>) -> Result<usize, Boxed> {
    Ok(text.len())
}

#[retry(fallback = configured_later)]
async fn configured(#[cfg(any())] gone: Nowhere, #[cfg(all())] here: String) -> R {
    Err(Mine(here))
}
fn configured_later(here: String, _: Mine) -> R {
    Ok(u32::try_from(here.len()).unwrap_or(0))
}
#[retry(fallback = refusals)]
async fn same() -> Result<u32, Error> {
    Ok(1)
}
fn refusals(_: Error) -> Result<u32, Error> {
    Ok(2)
}
#[retry(fallback = generic_later)]
async fn generic<E: From<Error>, T: Clone>(t: T) -> Result<T, E> {
    Ok(t)
}
fn generic_later<E, T>(t: T, _: CallError<E>) -> Result<T, E> {
    Ok(t)
}
fn send<T: Send>(value: T) -> T {
    value
}
#[tokio::main(flavor = "current_thread", start_paused = true)]
async fn main() {
    assert_eq!(send(error_alone(NotClone(0))).await.unwrap(), 4);
    assert_eq!(send(arguments("ab".into(), "c")).await.unwrap(), 6);
    assert_eq!(send(list("ab".into(), &mut vec![])).await.unwrap(), 3);
    let mut s = S(1);
    assert_eq!(send(s.pay(3)).await.unwrap(), 7);
    assert_eq!(send(s.pay_mut()).await.unwrap(), 14);
    *send(s.borrow()).await.unwrap() = 1;
    assert_eq!(send(s.borrow_shared(1)).await.unwrap(), &1);
    assert_eq!(*send(not_send()).await.unwrap(), 2);
    assert_eq!(*send(not_send_once()).await.unwrap(), 2);
    assert_eq!(send(configured("ab".into())).await.unwrap(), 2);
    let s = Arc::new(s);
    assert_eq!(send(s.clone().pay_arc(3)).await.unwrap(), 4);
    assert_eq!(send(s.clone().detach("3".into())).await.unwrap(), 4);
    assert_eq!(send(same()).await.unwrap(), 1);
    assert_eq!(send(generic::<Mine, _>(1)).await.unwrap(), 1);

    // Lifetimes are erased in a task: everything above must be `Send` for all of them.
    let task = tokio::spawn(async move {
        let text = String::from("ab");
        let mut owned = S(1);
        let mut list = vec![];
        s.pay(3).await.unwrap()
            + arguments(text.clone(), &text).await.unwrap()
            + self::list(text.clone(), &mut list).await.unwrap()
            + owned.pay_mut().await.unwrap()
            + *owned.borrow().await.unwrap()
            + *owned.borrow_shared(1).await.unwrap()
            + u32::try_from(boxed(&text).await.unwrap()).unwrap()
            + not_send().await.map_or(0, |value| *value)
            + generic::<Mine, _>(&text).await.map_or(0, |_| 1)
    });
    assert!(task.await.unwrap() > 0);
}
