use resilience::retry;

#[retry]
struct Payment;

#[retry]
impl Payment {
    async fn pay(&self) {}
}

#[retry]
trait Pays {
    async fn pay(&self) {}
}

fn main() {}
