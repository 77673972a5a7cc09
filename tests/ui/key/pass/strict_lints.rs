#![deny(warnings, unused, clippy::all)]

use resilience::{Error, bulkhead, circuit_breaker, rate_limiter, retry, time_limiter};

type Answer<T> = Result<T, Error>;

struct Order {
    id: u64,
}

#[circuit_breaker(name = "one", key = id)]
async fn a_name(id: u64) -> Answer<u64> {
    Ok(id)
}

#[rate_limiter(name = "two", key = id + 1)]
async fn a_sum(id: u64) -> Answer<u64> {
    Ok(id)
}

#[retry(name = "three", key = id as u8)]
#[time_limiter(name = "three", key = -(id as i64))]
async fn a_cast(id: u64) -> Answer<u64> {
    Ok(id)
}

#[bulkhead(name = "four", key = id, fallback = instead)]
async fn parts(Order { id }: Order, (_unused, _): (u8, String)) -> Answer<u64> {
    Ok(id)
}

async fn instead(_: Error) -> Answer<u64> {
    Ok(0)
}

#[bulkhead(name = "five", key = text.lock().map_or(0, |text| text.len()))]
async fn a_guard_that_ends(text: std::sync::Mutex<String>) -> Answer<usize> {
    Ok(text.into_inner().map_or(0, |text| text.len()))
}

fn is_send<T: Send>(_: T) {}

fn main() {
    is_send(a_name(1));
    is_send(a_sum(1));
    is_send(a_cast(1));
    is_send(parts(Order { id: 1 }, (1, String::new())));
    is_send(a_guard_that_ends(Default::default()));
}
