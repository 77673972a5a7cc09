// wrong: "paymet"
// instead: did you mean `payment`?
// wrong: "paymnt"
// instead: did you mean `payment`?

use resilience::{Error, retry, time_limiter};

#[retry(name = "paymet")]
#[time_limiter(name = "paymnt")]
pub async fn pay() -> Result<u32, Error> {
    Ok(1)
}
