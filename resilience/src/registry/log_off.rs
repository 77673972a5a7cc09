//! Without the feature `tracing` a registry logs nothing.

use resilience_settings::Pattern;

use super::Change;
use crate::config::{ConfigError, Finding};

pub(super) fn reloaded(_: &[Change]) {}

pub(super) fn refused(_: &ConfigError) {}

pub(super) fn switched(_: Pattern, _: bool) {}

pub(super) fn switch_cleared(_: Pattern) {}

pub(super) fn found(_: &Finding) {}
