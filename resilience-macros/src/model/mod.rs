//! From syntax to a checked model: everything that can be wrong without knowing types is found
//! here, and `expand` cannot fail.

mod arguments;
mod blocking;
mod body;
mod entry;
mod function;
mod layer;
mod lending;
mod names;
pub(crate) mod returns;
mod stack;
mod value;

pub(crate) use arguments::{Argument, Passing, Receiver};
pub(crate) use blocking::calls as blocking_calls;
pub(crate) use body::Body;
pub(crate) use entry::Entry;
pub(crate) use function::{Form, Function};
pub(crate) use layer::{CheckedBy, Layer};
pub(crate) use names::Names;
pub(crate) use stack::Stack;
pub(crate) use value::Inline;
