// wrong: kinds
// instead: write `#[derive(resilience::ErrorKind)]` on the type

use resilience::Rules;

struct Opaque;

fn main() {
    let _ = Rules::<u32, Opaque>::new().kinds();
}
