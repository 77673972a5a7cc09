// wrong: later
// instead: only the error is left for a fallback

#![allow(clippy::too_many_arguments)]

use resilience::{Error, retry};

#[retry(fallback = later)]
#[rustfmt::skip]
async fn thirteen(
    a: u8, b: u8, c: u8, d: u8, e: u8, f: u8, g: u8, h: u8, i: u8, j: u8, k: u8, l: u8, m: u8,
) -> Result<u8, Error> {
    Ok(a + b + c + d + e + f + g + h + i + j + k + l + m)
}

#[rustfmt::skip]
fn later(
    _: u8, _: u8, _: u8, _: u8, _: u8, _: u8, _: u8, _: u8, _: u8, _: u8, _: u8, _: u8, _: u8,
    _: Error,
) -> Result<u8, Error> {
    Ok(0)
}

fn main() {}
