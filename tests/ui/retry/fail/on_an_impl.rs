// wrong: #[retry]
// instead: stands on functions only: put it on the method to protect

use resilience::retry;

struct Payment;

#[retry]
impl Payment {
    async fn pay(&self) {}
}

fn main() {}
