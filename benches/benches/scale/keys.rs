//! 100,000 keyed breakers: what they take, and what happens where fewer may live.

use std::time::{Duration, Instant};

use resilience::{CircuitBreaker, Config, Resilience, config::Format};
use resilience_bench::{
    allocations::bytes_in_use,
    body::{body, now},
};

use super::report::Report;

const KEYS: u32 = 100_000;

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
    mixed().for_each(|key| drop(now(shards.keyed(&key).call(body(1)))));
    let called = bytes_per_key(before);
    report.expect(
        "memory of one that was called",
        format!("{called} bytes"),
        "at most 2048 bytes",
        called <= 2_048,
    );
    let start = Instant::now();
    mixed().for_each(|key| drop(shards.keyed(&key)));
    report.tell("look-up, in mixed order", per_key(start.elapsed()));
    let live = shards.keyed_metrics().live;
    report.expect("live", live.to_string(), "100000", live == u64::from(KEYS));
    drop(shards);
    let left = bytes_in_use() - before;
    report.expect(
        "memory once the registry is gone",
        format!("{left} bytes"),
        "at most 0 bytes",
        left <= 0,
    );
}

/// A tenth of the keys may live.
pub(super) fn more_than_fit(report: &mut Report) {
    const ROUNDS: u32 = 3;
    let most = KEYS / 10;
    let shards = shards(most, "1ms");
    let before = bytes_in_use();
    let start = Instant::now();
    let refused: usize = (0..ROUNDS)
        .map(|_| mixed().filter(|key| now(shards.keyed(key).call(body(1))).is_err()).count())
        .sum();
    let took = start.elapsed() / ROUNDS;
    report.tell("10,000 places for 100,000 keys: look-up and call", per_key(took));
    report.expect("refused", refused.to_string(), "0", refused == 0);
    let metrics = shards.keyed_metrics();
    let live = metrics.live;
    report.expect("live", live.to_string(), "at most 10000", live <= u64::from(most));
    report.tell("evicted", metrics.evicted.to_string());
    let calls = f64::from(KEYS * ROUNDS);
    let overflowed = metrics.overflowed as f64 / calls * 100.0;
    report.tell("served by the shared instance", format!("{overflowed:.1} % of calls"));
    let each = (bytes_in_use() - before) / i64::from(most);
    report.expect("memory, by place", format!("{each} bytes"), "at most 2048 bytes", each <= 2_048);
}
