// wrong: Mine
// instead: use one of the provided types that already implement it

use resilience::tower::CloneRequest;

#[derive(Clone)]
struct Mine;

impl CloneRequest<Mine> for Mine {
    fn clone_request(&self, _: &Mine) -> Option<Mine> {
        None
    }
}

fn main() {}
