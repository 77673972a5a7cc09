// wrong: breaker
// instead: the name of one

use resilience::Stack;

fn main() {
    let breaker = resilience::global().circuit_breaker("payment");
    let _ = Stack::builder().retry(breaker).build();
}
