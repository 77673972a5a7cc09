//! What the fallbacks leave of the arguments for the attempts.

use crate::__private::Keep;

/// Asks a fallback's type whether it takes the arguments; see `__policy!`. The answer is a method's,
/// and has a name that no extension trait of the user's has.
#[derive(Debug)]
pub struct Form<F, Base> {
    base: Base,
    _fallback: F,
}

impl<F, Base> Form<F, Base> {
    /// The question; `base` is the policy without this fallback.
    pub fn new(base: Base, fallback: F) -> Self {
        Self { base, _fallback: fallback }
    }
}

/// The first answer tried: it takes one argument, which can only be the error.
pub trait TakesErrorAlone<X> {
    /// The policy without this fallback.
    type Base;

    /// The fallback needs no arguments: nothing changes.
    fn __resilience_policy(&self) -> Self::Base;
}

impl<F, X, R, Base: Copy> TakesErrorAlone<X> for Form<F, Base>
where
    F: FnOnce(X) -> R,
{
    type Base = Base;

    fn __resilience_policy(&self) -> Base {
        self.base
    }
}

/// The second answer tried, by one more reference: it takes the arguments.
pub trait TakesMore {
    /// The fallback needs the arguments: they are kept.
    fn __resilience_policy(&self) -> Keep {
        Keep
    }
}

impl<F, Base> TakesMore for &Form<F, Base> {}

/// How attempts get their arguments: `base`, unless one of the fallbacks takes them.
#[doc(hidden)]
#[macro_export]
macro_rules! __policy {
    ($base:expr) => { $base };
    ($base:expr, $fallback:path $(, $rest:path)*) => {{
        #[allow(unused_imports)]
        use $crate::__private::{TakesErrorAlone as _, TakesMore as _};
        $crate::__policy!(
            (&$crate::__private::Form::new($base, $fallback)).__resilience_policy() $(, $rest)*
        )
    }};
}
