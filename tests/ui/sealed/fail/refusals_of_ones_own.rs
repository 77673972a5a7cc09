// wrong: Mine
// instead: use one of the provided types that already implement it

use resilience::{Error, tower::Refuse};

struct Mine;

impl Refuse<Mine> for Mine {
    fn response(_: &Error) -> Mine {
        Mine
    }
}

fn main() {}
