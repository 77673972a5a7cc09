//! Names of instances, checked against the files that declare them.
//!
//! Off unless the feature `checked-names` is on: the loader behind it costs build time.

#[cfg(feature = "checked-names")]
mod checked;
#[cfg(not(feature = "checked-names"))]
mod off;

#[cfg(feature = "checked-names")]
pub(crate) use checked::check;
#[cfg(not(feature = "checked-names"))]
pub(crate) use off::check;
