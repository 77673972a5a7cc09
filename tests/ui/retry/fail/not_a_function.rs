use resilience::retry;

#[retry]
struct Payment;

fn main() {}
