//! The instances as they are shown, and what is different between two looks at them.

mod diff;
mod views;

pub(super) use self::{
    diff::{Diff, Instances},
    views::Transition,
};
