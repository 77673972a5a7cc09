use resilience::retry;

#[retry]
async fn nothing() {}

#[retry]
async fn number() -> u32 {
    1
}

#[retry]
async fn maybe() -> Option<u32> {
    None
}

fn main() {}
