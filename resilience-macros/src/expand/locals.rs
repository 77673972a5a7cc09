use proc_macro2::Span;
use syn::Ident;

/// The variables of the composed function. They are hygienic, and have a prefix as well: a pattern
/// that is a mere name means the user's constant of that name, if there is one.
pub(super) struct Locals {
    pub(super) rules: Ident,
    pub(super) policy: Ident,
    pub(super) entered: Ident,
    pub(super) pass: Ident,
    pub(super) last: Ident,
    pub(super) receiver: Ident,
    pub(super) attempt: Ident,
    pub(super) outcome: Ident,
    pub(super) result: Ident,
    pub(super) failed: Ident,
    pub(super) identity: Ident,
    pub(super) running: Ident,
}

impl Locals {
    pub(super) fn new() -> Self {
        let local = |name| Ident::new(name, Span::mixed_site());
        Self {
            rules: local("__resilience_rules"),
            policy: local("__resilience_policy"),
            entered: local("__resilience_entered"),
            pass: local("__resilience_pass"),
            last: local("__resilience_last"),
            receiver: local("__resilience_receiver"),
            attempt: local("__resilience_attempt"),
            outcome: local("__resilience_outcome"),
            result: local("__resilience_result"),
            failed: local("__resilience_failed"),
            identity: local("__resilience_identity"),
            running: local("__resilience_running"),
        }
    }
}
