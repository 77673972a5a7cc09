// wrong: 1
// instead: expected `Result<_, _>`

use resilience::Stack;

fn main() {
    let stack = Stack::builder().retry("payment").build();
    drop(stack.call(async || 1));
}
