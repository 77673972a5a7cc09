// wrong: Mine
// instead: use one of the provided types that already implement it

use resilience::stack::Fallback;

#[derive(Clone)]
struct Mine;

impl Fallback<(), (), (), (), ()> for Mine {}

fn main() {}
