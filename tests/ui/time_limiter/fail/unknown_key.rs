use resilience::{Error, rate_limiter, retry, time_limiter};

#[time_limiter(timeout = "2s")]
async fn a_word_of_a_key() -> Result<u32, Error> {
    Ok(1)
}

#[retry(max = 2)]
async fn a_word_of_several_keys() -> Result<u32, Error> {
    Ok(1)
}

#[rate_limiter(colour = "red")]
async fn nothing_like_a_key() -> Result<u32, Error> {
    Ok(1)
}

#[rate_limiter(keyed = "red")]
async fn more_than_a_key() -> Result<u32, Error> {
    Ok(1)
}

fn main() {}
