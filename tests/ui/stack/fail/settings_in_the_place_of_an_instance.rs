// wrong: 3
// instead: the name of one

use resilience::Stack;

fn main() {
    let _ = Stack::builder().retry(3).build();
}
