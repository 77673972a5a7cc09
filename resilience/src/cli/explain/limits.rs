//! What keeps calls within limits: of rate, time and number.

use std::time::Duration;

use super::{super::time::readable, count};
use crate::{
    BulkheadConfig, RateLimiterConfig, ThreadPoolBulkheadConfig, TimeLimiterConfig,
    rate_limiter::Refill,
};

pub(super) fn rate(limiter: &RateLimiterConfig) -> Vec<String> {
    let calls = count(limiter.limit_for_period().into(), "call");
    let period = readable(limiter.limit_refresh_period());
    let lets = match limiter.refill() {
        Refill::Interval => format!(
            "Lets {calls} through in every {period}; the permissions of a period come all at once."
        ),
        Refill::Greedy => format!(
            "Lets {calls} through at once after a quiet time, and {calls} every {period} in the long \
             run; permissions come back one by one."
        ),
    };
    vec![
        lets,
        waits(limiter.timeout_duration(), "its turn", "is refused at once where that is too short"),
    ]
}

/// With `in_pool` the call runs on a thread, which nobody can stop.
pub(super) fn time(limiter: &TimeLimiterConfig, in_pool: bool) -> Vec<String> {
    let limit = readable(limiter.timeout_duration());
    let running = if in_pool {
        "On its thread the call runs on to its end; for the breaker around it, it has failed."
    } else if limiter.cancel_running_future() {
        "The call is dropped there; it is a failure for the breaker around it."
    } else {
        "Where the function has `detach`, it runs on; for the breaker around it, it has failed."
    };
    vec![
        format!("Cuts a call short after {limit}, the wait for a bulkhead's slot included."),
        running.to_owned(),
    ]
}

pub(super) fn bulkhead(bulkhead: &BulkheadConfig) -> Vec<String> {
    let most = count(bulkhead.max_concurrent_calls().into(), "call");
    vec![
        format!("Lets {most} run at once."),
        waits(bulkhead.max_wait_duration(), "a slot", "is refused after that"),
    ]
}

pub(super) fn thread_pool(pool: &ThreadPoolBulkheadConfig) -> Vec<String> {
    let (core, most) = (pool.core_thread_pool_size(), pool.max_thread_pool_size());
    let queue = pool.queue_capacity();
    let waiting = match queue {
        0 => "none waits for one".to_owned(),
        queue => format!("up to {} may wait for one", count(queue.into(), "further call")),
    };
    let further =
        if most > core { format!(", and then there are up to {most}") } else { String::new() };
    vec![
        format!("Runs calls on {}; {waiting}{further}.", count(core.into(), "thread")),
        format!(
            "With {} under way or waiting, the next is refused.",
            u64::from(most) + u64::from(queue)
        ),
    ]
}

fn waits(longest: Duration, what: &str, then: &str) -> String {
    if longest.is_zero() {
        format!("A call that does not get {what} at once is refused.")
    } else {
        format!("A call waits up to {} for {what}, and {then}.", readable(longest))
    }
}
