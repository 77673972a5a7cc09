use resilience::retry;

type Money = std::num::Wrapping<u32>;

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

#[retry]
async fn behind_an_alias() -> Money {
    std::num::Wrapping(1)
}

fn main() {}
