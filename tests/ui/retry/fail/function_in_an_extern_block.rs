// wrong: charge
// instead: on an `async fn` that calls this one

use resilience::retry;

unsafe extern "C" {
    #[retry]
    pub fn charge(amount: u32) -> u32;
}

fn main() {}
