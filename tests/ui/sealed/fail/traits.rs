//! Traits that only this crate implements, so that they can grow.

use resilience::{
    Error, Rules,
    stack::Fallback,
    tower::{CloneRequest, Refuse, ToRules},
};

#[derive(Clone)]
struct Mine;

impl ToRules<(), ()> for Mine {
    fn to_rules(&self) -> Rules<(), ()> {
        Rules::new()
    }
}

impl CloneRequest<Mine> for Mine {
    fn clone_request(&self, _: &Mine) -> Option<Mine> {
        None
    }
}

impl Refuse<Mine> for Mine {
    fn response(_: &Error) -> Mine {
        Mine
    }
}

impl Fallback<(), (), (), (), ()> for Mine {}

fn main() {}
