// wrong: Mine
// instead: use one of the provided types that already implement it

use resilience::{Rules, tower::ToRules};

#[derive(Clone)]
struct Mine;

impl ToRules<(), ()> for Mine {
    fn to_rules(&self) -> Rules<(), ()> {
        Rules::new()
    }
}

fn main() {}
