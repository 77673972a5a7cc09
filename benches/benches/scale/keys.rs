//! 100,000 keyed breakers: what they take, and what happens where fewer may live.

use std::time::{Duration, Instant};

use resilience::{CircuitBreaker, Config, Resilience, config::Format};
use resilience_bench::{allocations::bytes_in_use, body::body, now};

use super::report::Report;

const KEYS: u32 = 100_000;
const PLACES: u32 = KEYS / 10;
const ROUNDS: u32 = 3;
const MOST_BYTES: i64 = 1_024;
const MOST_BYTES_TEXT: &str = "at most 1024 bytes";

fn shards(max_keys: u32, idle: &str) -> CircuitBreaker {
    let yaml = format!(
        "circuitbreaker.instances.shard: {{ max_keys: {max_keys}, key_idle_timeout: {idle} }}"
    );
    let config = Config::from_str(&yaml, Format::Yaml).expect("a configuration");
    Resilience::from_config(config).expect("a registry").circuit_breaker("shard")
}

/// All keys in an order in which neighbours in memory do not follow each other.
fn mixed() -> impl Iterator<Item = u32> {
    (0..KEYS).map(|at| u32::try_from(u64::from(at) * 7_919 % u64::from(KEYS)).expect("a key"))
}

fn per_key(of: Duration) -> String {
    format!("{:.0} ns", of.as_secs_f64() * 1e9 / f64::from(KEYS))
}

fn bytes_per_key(since: i64) -> i64 {
    (bytes_in_use() - since) / i64::from(KEYS)
}

/// As many as there are keys may live.
pub(super) fn live(report: &mut Report) {
    let shards = shards(KEYS, "10m");
    let before = bytes_in_use();
    let start = Instant::now();
    (0..KEYS).for_each(|key| drop(shards.keyed(&key)));
    report.tell("100,000 keyed breakers: making one", per_key(start.elapsed()));
    let made = bytes_per_key(before);
    report.tell("memory of one, not called yet", format!("{made} bytes"));
    mixed().for_each(|key| drop(now!(shards.keyed(&key).call(body(1)))));
    let called = bytes_per_key(before);
    report.expect(
        "memory of one that was called",
        format!("{called} bytes"),
        MOST_BYTES_TEXT,
        called <= MOST_BYTES,
    );
    let start = Instant::now();
    mixed().for_each(|key| drop(shards.keyed(&key)));
    report.tell("look-up, in mixed order", per_key(start.elapsed()));
    let live = shards.keyed_metrics().live;
    report.expect("live", live.to_string(), "100000", live == u64::from(KEYS));
}

/// A tenth of the keys may live: once with a short idle time, so that idle ones make room, once with a
/// long one, so that most calls get the shared instance.
pub(super) fn more_than_fit(report: &mut Report) {
    for (idle, name) in [("1ms", "idle after 1 ms"), ("10m", "idle after 10 min")] {
        let before = bytes_in_use();
        let shards = shards(PLACES, idle);
        let start = Instant::now();
        let refused: usize = (0..ROUNDS)
            .map(|_| mixed().filter(|key| now!(shards.keyed(key).call(body(1))).is_err()).count())
            .sum();
        let took = start.elapsed() / ROUNDS;
        let each = (bytes_in_use() - before) / i64::from(PLACES);
        let what = format!("10,000 places for 100,000 keys, {name}: look-up and call");
        report.tell(&what, per_key(took));
        report.expect("refused", refused.to_string(), "0", refused == 0);
        let metrics = shards.keyed_metrics();
        let live = metrics.live;
        report.expect("live", live.to_string(), "at most 10000", live <= u64::from(PLACES));
        report.tell("evicted", metrics.evicted.to_string());
        report.tell("calls served by the shared instance", metrics.overflowed.to_string());
        let bytes = format!("{each} bytes");
        report.expect("memory, by place", bytes, MOST_BYTES_TEXT, each <= MOST_BYTES);
    }
}
