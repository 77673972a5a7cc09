// wrong: stack.protect::<u32, Error>().fallback(later)
// instead: takes the error alone

use resilience::{Error, Stack};

fn later(_: u64, _: u64) -> Result<u32, Error> {
    Ok(0)
}

async fn pay() -> Result<u32, Error> {
    Ok(1)
}

async fn order(stack: Stack) {
    let _call = stack.protect::<u32, Error>().fallback(later).call(pay);
}

fn main() {}
