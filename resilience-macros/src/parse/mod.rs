//! From tokens to syntax: what the user wrote, before anybody asks whether it makes sense.

mod args;
mod attribute;
mod krate;

pub(crate) use args::{Arg, ArgValue, Args};
pub(crate) use attribute::{Written, hides_ours, is_marker, outer_attributes, pattern_of};
pub(crate) use krate::default_crate;
