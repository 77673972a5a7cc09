// wrong: shards
// instead: shard

use resilience::{Error, time_limiter};

#[time_limiter(key = shards)]
async fn read(shard: u32) -> Result<u32, Error> {
    Ok(shard)
}

fn main() {}
