//! Ten million calls through all five layers: memory stays what it is.

use std::time::Instant;

use resilience::{Retry, RetryConfig, Stack};
use resilience_bench::{
    allocations::{bytes_in_use, in_use},
    body::one_in_a_hundred_fails,
    machine, now,
    ours::Five,
};

use super::report::Report;

pub(super) fn many_calls(report: &mut Report) {
    const MILLION: u32 = 1_000_000;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
    let runtime = runtime.expect("a runtime");
    let _entered = runtime.enter();
    let stack = stack();
    let body = one_in_a_hundred_fails();
    let calls = |many: u32| (0..many).filter(|_| now!(stack.call(&body)).is_err()).count();

    let mut failed = calls(MILLION);
    let (allocations, bytes, resident) = (in_use(), bytes_in_use(), machine::resident());
    let start = Instant::now();
    failed += calls(9 * MILLION);
    let took = start.elapsed().as_secs_f64() / 9e6;
    let more = in_use() - allocations;
    let more_bytes = bytes_in_use() - bytes;
    let grown =
        resident.zip(machine::resident()).map(|(then, now)| now.saturating_sub(then) / 1024);

    report.expect(
        "10 million calls, 1 % fail: failed",
        failed.to_string(),
        "100000",
        failed == 100_000,
    );
    report.tell("a call", format!("{:.0} ns", took * 1e9));
    report.expect("allocations in use since the first million", more.to_string(), "0", more == 0);
    // The recent events are kept as text: some are longer than others.
    report.expect(
        "bytes in use since the first million",
        more_bytes.to_string(),
        "at most 4096",
        more_bytes <= 4_096,
    );
    if let Some(grown) = grown {
        report.expect(
            "resident memory since the first million",
            format!("{grown} KiB"),
            "at most 256 KiB",
            grown <= 256,
        );
    }
}

/// All five, with one attempt: a wait between attempts would be most of the time.
fn stack() -> Stack {
    let five = Five::new();
    let once = RetryConfig::builder().max_attempts(1).build().expect("in range");
    Stack::builder()
        .retry(Retry::new("soak", once))
        .circuit_breaker(five.breaker)
        .rate_limiter(five.limiter)
        .time_limiter(five.time_limiter)
        .bulkhead(five.bulkhead)
        .build()
}
