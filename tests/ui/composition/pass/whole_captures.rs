//! An attempt has its arguments as wholes: what is said of a type is not said of its fields.

#![deny(warnings)]
#![allow(dead_code)]

use std::{
    future::{Future, ready},
    pin::Pin,
};

use resilience::{CallError, Error, bulkhead, circuit_breaker, retry, time_limiter};

#[derive(Clone, Copy)]
struct Handle(*const u32);

// SAFETY: nobody reads what it points to.
unsafe impl Send for Handle {}
unsafe impl Sync for Handle {}

fn open(address: *const u32) -> Result<bool, Error> {
    Ok(address.is_null())
}

#[circuit_breaker]
async fn once(handle: Handle, Handle(other): Handle) -> Result<bool, Error> {
    Ok(open(handle.0)? && open(other)?)
}

#[retry]
async fn kept(handle: Handle, Handle(other): Handle, shared: &Handle) -> Result<bool, Error> {
    let Handle(address) = handle;
    Ok(open(address)? && open(other)? && open(shared.0)?)
}

#[time_limiter(detach)]
async fn detached(handle: Handle, (other, _): (Handle, u8)) -> Result<bool, Error> {
    Ok(open(handle.0)? && open(other.0)?)
}

#[bulkhead(type = "thread_pool")]
#[retry]
fn pooled(handle: Handle, (other, _): (Handle, u8)) -> Result<bool, Error> {
    Ok(open(handle.0)? && open(other.0)?)
}

#[circuit_breaker]
fn boxed(handle: Handle) -> Pin<Box<dyn Future<Output = Result<bool, Error>> + Send>> {
    if handle.0.is_null() {
        return Box::pin(ready(Ok(true)));
    }
    Box::pin(ready(open(handle.0)))
}

impl Handle {
    #[circuit_breaker]
    async fn by_value(self) -> Result<bool, Error> {
        open(self.0)
    }

    #[retry(mut_ok, fallback = Self::later)]
    async fn exclusive(&mut self, other: &mut Handle, third: &Handle) -> Result<bool, Error> {
        ready(()).await;
        self.0 = other.0;
        other.0 = third.0;
        open(self.0)
    }

    fn later(&mut self, _: &mut Self, _: &Self, _: CallError<Error>) -> Result<bool, Error> {
        Ok(false)
    }
}

/// What is written before it is read had no reader in the caller either.
#[derive(Clone)]
struct Draft {
    title: String,
}

impl Draft {
    #[retry]
    async fn titled(mut self, title: String) -> Result<String, Error> {
        self.title = title;
        Ok(self.title)
    }

    #[circuit_breaker]
    async fn titled_once(mut self, title: String) -> Result<String, Error> {
        self.title = title;
        Ok(self.title)
    }
}

fn is_send<T: Send>(_: T) {}

fn main() {
    let null = || Handle(std::ptr::null());
    is_send(once(null(), null()));
    is_send(kept(null(), null(), &null()));
    is_send(detached(null(), (null(), 1)));
    is_send(pooled(null(), (null(), 1)));
    is_send(boxed(null()));
    is_send(null().by_value());
    is_send(null().exclusive(&mut null(), &null()));
    is_send(Draft { title: String::new() }.titled(String::new()));
}
