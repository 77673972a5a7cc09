// wrong: #[retry]
// instead: stands on functions only: put it on the method to protect

use resilience::retry;

#[retry]
trait Pays {
    async fn pay(&self) {}
}

fn main() {}
