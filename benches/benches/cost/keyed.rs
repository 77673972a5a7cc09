//! One instance for each key: the look-up, and the look-up with the call.

use resilience::circuit_breaker;
use resilience_bench::{
    Run,
    body::{Answer, body},
    now, ours,
};

pub(super) fn rows(run: &mut Run) {
    let shards = ours::breaker();
    (0..1_000_u64).for_each(|key| drop(shards.keyed(&key)));
    run.row("look-up of 1 in 1,000 keys", ours::NAME, || shards.keyed(&7_u64));

    let case = "circuit breaker of a key";
    let by = format!("{}, look-up and call", ours::NAME);
    run.row(case, &by, || now!(shards.keyed(&7_u64).call(body(1))));
    (0..1_000).for_each(|key| drop(now!(of_a_shard(key))));
    run.row(case, &format!("{}, attribute", ours::NAME), || now!(of_a_shard(7)));
}

#[circuit_breaker(name = "bench-shard", key = shard)]
async fn of_a_shard(shard: u64) -> Answer {
    body(shard).await
}
