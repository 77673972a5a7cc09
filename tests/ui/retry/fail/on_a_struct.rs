// wrong: #[retry]
// instead: stands on functions only: put it on the method to protect

use resilience::retry;

#[retry]
struct Payment;

fn main() {}
