// wrong: shard
// instead: `key = format_args!("{}/{}", tenant, user)`

use resilience::{Error, circuit_breaker};

struct Shard;

#[circuit_breaker(name = "shard", key = shard)]
async fn read(shard: Shard) -> Result<u32, Error> {
    let _ = shard;
    Ok(1)
}

fn main() {}
