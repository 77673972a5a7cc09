use resilience::{Error, retry};

#[retry(fallback = not_a_result)]
async fn pay(amount: u32) -> Result<u32, Error> {
    Ok(amount)
}

fn not_a_result(_: Error) -> u32 {
    1
}

#[retry(fallback = another_value)]
async fn ship(amount: u32) -> Result<u32, Error> {
    Ok(amount)
}

async fn another_value(_: Error) -> Result<String, Error> {
    Ok(String::new())
}

fn main() {}
