use crate::{Rules, sealed::Sealed};

/// How a layer judges what its service answers: [`NoRules`] or [`Rules`]; sealed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` are not rules for a service that answers `Result<{T}, {E}>`",
    label = "of another response or error than the service's",
    note = "write `Rules::<{T}, {E}>::new()`"
)]
pub trait ToRules<T, E>: Clone + Sealed<(T, E)> {
    /// The rules for this response and this error.
    fn to_rules(&self) -> Rules<T, E>;
}

/// Every error is a failure of no kind, every response a success.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoRules;

impl<T, E> Sealed<(T, E)> for NoRules {}

impl<T, E> ToRules<T, E> for NoRules {
    fn to_rules(&self) -> Rules<T, E> {
        Rules::new()
    }
}

impl<T, E> Sealed<(T, E)> for Rules<T, E> {}

#[diagnostic::do_not_recommend]
impl<T, E> ToRules<T, E> for Rules<T, E> {
    fn to_rules(&self) -> Rules<T, E> {
        *self
    }
}

/// The ways to change the field `rules` of a layer; `$rest` are its other fields.
macro_rules! judging {
    ($layer:ident<$($fixed:ident)?>; $($rest:ident),*) => {
        /// Judges outcomes by these rules.
        #[must_use]
        pub fn rules<T, E>(self, rules: crate::Rules<T, E>) -> $layer<crate::Rules<T, E> $(, $fixed)?> {
            $layer { rules, $($rest: self.$rest),* }
        }

        /// Says how a response counts: see [`Rules::classify`](crate::Rules::classify).
        #[must_use]
        pub fn classify<T, E>(
            self,
            rule: fn(&T) -> crate::Outcome,
        ) -> $layer<crate::Rules<T, E> $(, $fixed)?>
        where
            C: crate::tower::ToRules<T, E>,
        {
            let rules = self.rules.to_rules().classify(rule);
            self.rules(rules)
        }

        /// Takes the kinds of errors from their [`ErrorKind`](crate::ErrorKind) implementation, so
        /// that the configuration's lists can name them.
        #[must_use]
        pub fn kinds<T, E: crate::ErrorKind>(self) -> $layer<crate::Rules<T, E> $(, $fixed)?>
        where
            C: crate::tower::ToRules<T, E>,
        {
            let rules = self.rules.to_rules().kinds();
            self.rules(rules)
        }
    };
}

pub(super) use judging;
