// wrong: Card
// instead: derive `Clone`, take the argument by reference or in an `Arc`

use resilience::{Error, circuit_breaker, retry};

struct Card(u32);

#[retry]
#[circuit_breaker]
async fn pay(amount: u32, card: Card) -> Result<u32, Error> {
    Ok(amount + card.0)
}

fn main() {}
