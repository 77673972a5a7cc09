// wrong: Card
// instead: let the fallback take nothing but the error

use resilience::{Error, circuit_breaker};

struct Card(u32);

#[circuit_breaker(fallback = later)]
async fn pay(card: Card) -> Result<u32, Error> {
    Ok(card.0)
}

fn later(card: Card, _: Error) -> Result<u32, Error> {
    Ok(card.0)
}

fn main() {}
