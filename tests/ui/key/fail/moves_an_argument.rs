// wrong: order
// instead: consider cloning the value

use resilience::{Error, retry};

fn shown(order: String) -> usize {
    order.len()
}

#[retry(key = shown(order))]
async fn pay(order: String) -> Result<String, Error> {
    Ok(order)
}

fn main() {}
