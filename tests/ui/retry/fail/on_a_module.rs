// wrong: #[retry]
// instead: stands on functions only: put it on the function to protect

use resilience::retry;

#[retry]
mod payments {
    pub fn pay() {}
}

fn main() {}
