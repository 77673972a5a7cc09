// wrong: Paid
// instead: a protected function returns `Result<T, E>`
// wrong: (1, true)
// instead: try wrapping the expression in a variant of `Result`

use resilience::retry;

type Paid = (u32, bool);

#[retry]
async fn pay() -> Paid {
    (1, true)
}

fn main() {}
