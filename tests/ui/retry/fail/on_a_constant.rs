// wrong: #[retry]
// instead: stands on functions only: put it on the function to protect

use resilience::retry;

#[retry]
const PAYMENTS: u32 = 3;

fn main() {}
