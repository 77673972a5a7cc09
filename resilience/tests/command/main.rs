//! The command `resilience`, as it is installed: what it answers, and how it ends.

mod check;
mod documentation;
mod explain;
mod import;
mod run;
mod simulate;
