// wrong: union
// instead: derived for enums and structs

use resilience::ErrorKind;

#[derive(ErrorKind)]
union Bits {
    a: u32,
}

fn main() {}
