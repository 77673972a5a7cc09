// wrong: &Shard
// instead: use a part that does, such as `key = order.id`

struct Shard;

fn main() {
    let breaker = resilience::global().circuit_breaker("shard");
    let _ = breaker.keyed(&Shard);
}
