//! Names in the user's code that an expansion must not take for its own.

#![deny(warnings)]
#![allow(dead_code, non_upper_case_globals, non_camel_case_types)]

use ::resilience::{circuit_breaker, retry};

mod core {}
mod std {}
mod resilience {}

const wait: u8 = 0;
const result: u8 = 0;
const refusal: u8 = 0;
const value: u8 = 0;
const error: u8 = 0;
const answer: u8 = 0;
const output: u8 = 0;
const carrier: u8 = 0;

struct Some;
struct None;
struct Ok;
struct Err;

type Result<T> = ::std::result::Result<T, ::resilience::Error>;

#[retry(fallback = later)]
#[circuit_breaker]
async fn r#try(pass: u8, slot: String, rules: u8, policy: u8, last: u8) -> Result<usize> {
    ::std::result::Result::Ok(slot.len() + usize::from(pass + rules + policy + last))
}

fn later(_: ::resilience::Error) -> Result<usize> {
    ::std::result::Result::Ok(0)
}

#[derive(::resilience::ErrorKind)]
enum Failure {
    Refused(::resilience::Error),
    r#Type,
}

fn main() {
    use ::resilience::ErrorKind as _;
    drop(r#try(1, String::new(), 2, 3, 4));
    assert_eq!(Failure::r#Type.kinds(), ["type"]);
}
