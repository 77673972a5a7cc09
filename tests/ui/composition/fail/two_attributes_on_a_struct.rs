// wrong: #[retry]
// instead: put it on the method to protect

#![deny(warnings)]

use resilience::{retry, time_limiter};

#[retry]
#[time_limiter]
pub struct Payments;

fn main() {}
