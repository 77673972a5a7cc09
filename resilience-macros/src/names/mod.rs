//! Names of instances, checked against the files that declare them.
//!
//! Off unless the feature `checked-names` is on: the loader behind it costs build time.

#[cfg(feature = "checked-names")]
mod cache;
#[cfg(feature = "checked-names")]
mod check;
#[cfg(feature = "checked-names")]
mod declared;
#[cfg(feature = "checked-names")]
mod metadata;
#[cfg(not(feature = "checked-names"))]
mod off;
#[cfg(feature = "checked-names")]
mod package;
#[cfg(feature = "checked-names")]
mod undeclared;

#[cfg(feature = "checked-names")]
pub(crate) use check::check;
#[cfg(not(feature = "checked-names"))]
pub(crate) use off::check;
