//! Attribute macros of `resilience`.
