//! What an error type tells about itself: kinds, and the refusal of a nested call.
//!
//! A protected function's error need not implement anything, so the macros ask by method
//! resolution: each answer sits one reference further out than the one before, and the compiler
//! takes the first that holds for the type. This needs a method call, which an extension trait of the
//! user's could catch: hence the name of the method.

use std::{
    borrow::Cow, error::Error as StdError, marker::PhantomData, ops::Deref, rc::Rc, sync::Arc,
};

use super::Facts;
use crate::{CallError, ErrorKind, chain::first_refusal, kind::kinds_of};

/// A function that reads the facts of an error.
pub type FactsFn<E> = for<'e> fn(&'e E) -> Facts<'e>;

/// The question about `E`; see `__facts!`.
#[derive(Debug)]
pub struct Probe<E>(PhantomData<fn() -> E>);

// By hand: a derive would ask for `E: Copy`.
impl<E> Clone for Probe<E> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<E> Copy for Probe<E> {}

impl<E> Probe<E> {
    /// The question.
    #[allow(clippy::new_without_default)] // only the macros ask
    pub fn new() -> Self {
        Self(PhantomData)
    }
}

/// First: an [`ErrorKind`] that is also a standard error.
pub trait KindsAndSource<E> {
    /// Kinds by the trait; the refusal by the trait, else from the sources.
    fn __resilience_facts(&self) -> FactsFn<E>;
}

// Not `'static`: that would rule out a type parameter without the bound. What an error borrows
// does not matter, for its source is `'static` by the trait.
impl<E: ErrorKind + StdError> KindsAndSource<E> for &&&&&Probe<E> {
    fn __resilience_facts(&self) -> FactsFn<E> {
        |error| Facts {
            kinds: error.kinds(),
            refusal: error.refusal().or_else(|| first_refusal(error.source())),
        }
    }
}

/// Second: an [`ErrorKind`].
pub trait KindsOnly<E> {
    /// Kinds and refusal by the trait.
    fn __resilience_facts(&self) -> FactsFn<E>;
}

impl<E: ErrorKind> KindsOnly<E> for &&&&Probe<E> {
    fn __resilience_facts(&self) -> FactsFn<E> {
        |error| Facts { kinds: error.kinds(), refusal: error.refusal() }
    }
}

/// Third: what points to an error: `anyhow::Error`, `Box<dyn Error>`, `Arc<dyn Error>`. The last is
/// an error too, but its source is what comes after the error that it points to.
pub trait PointsToError<E> {
    /// Whatever the error behind the pointer and its sources are known to be.
    fn __resilience_facts(&self) -> FactsFn<E>;
}

impl<E> PointsToError<E> for &&&Probe<E>
where
    E: Deref,
    E::Target: DynError,
{
    fn __resilience_facts(&self) -> FactsFn<E> {
        |error| pointee(error)
    }
}

fn pointee<P>(pointer: &P) -> Facts<'_>
where
    P: Deref,
    P::Target: DynError,
{
    let error = pointer.deref().as_dyn();
    Facts { kinds: kinds_of(error), refusal: first_refusal(Some(error)) }
}

/// Fourth: a standard error.
pub trait SourceOnly<E> {
    /// The refusal from the sources.
    fn __resilience_facts(&self) -> FactsFn<E>;
}

impl<E: StdError> SourceOnly<E> for &&Probe<E> {
    fn __resilience_facts(&self) -> FactsFn<E> {
        |error| Facts { kinds: &[], refusal: first_refusal(error.source()) }
    }
}

/// Fifth: a [`CallError`] around a pointer to an error.
pub trait WrapsPointer<E> {
    /// The refusal, or what the pointer tells.
    fn __resilience_facts(&self) -> FactsFn<E>;
}

impl<P> WrapsPointer<CallError<P>> for &Probe<CallError<P>>
where
    P: Deref,
    P::Target: DynError,
{
    fn __resilience_facts(&self) -> FactsFn<CallError<P>> {
        |error| match error {
            CallError::Inner(pointer) => pointee(pointer),
            CallError::Resilience(_) => error.facts(),
        }
    }
}

/// Sixth: a [`CallError`] around anything else, perhaps behind a pointer.
pub trait WrapsAnything<E> {
    /// The refusal, unless it is an error that nothing is known of.
    fn __resilience_facts(&self) -> FactsFn<E>;
}

impl<E: Carrier> WrapsAnything<E> for Probe<E> {
    fn __resilience_facts(&self) -> FactsFn<E> {
        E::facts
    }
}

/// A [`CallError`], or a pointer to one.
pub trait Carrier {
    /// The refusal, if it is one.
    fn facts(&self) -> Facts<'_>;
}

impl<E> Carrier for CallError<E> {
    fn facts(&self) -> Facts<'_> {
        Facts { kinds: &[], refusal: self.resilience().map(Cow::Borrowed) }
    }
}

macro_rules! pointers {
    ($($pointer:ty),*) => {$(
        impl<C: Carrier> Carrier for $pointer {
            fn facts(&self) -> Facts<'_> {
                C::facts(self)
            }
        }
    )*};
}

pointers!(&C, Box<C>, Rc<C>, Arc<C>);

/// The trait objects that error pointers point to.
pub trait DynError {
    /// The error without its markers.
    fn as_dyn(&self) -> &(dyn StdError + 'static);
}

macro_rules! dyn_error {
    ($($object:ty),*) => {$(
        impl DynError for $object {
            fn as_dyn(&self) -> &(dyn StdError + 'static) {
                self
            }
        }
    )*};
}

dyn_error!(
    dyn StdError + 'static,
    dyn StdError + Send + 'static,
    dyn StdError + Send + Sync + 'static
);

/// Last: nothing is known.
pub trait Opaque<E> {
    /// No kinds, no refusal.
    fn __resilience_facts(self) -> FactsFn<E>;
}

impl<E> Opaque<E> for Probe<E> {
    fn __resilience_facts(self) -> FactsFn<E> {
        |_| Facts { kinds: &[], refusal: None }
    }
}

/// The facts of an error type, or as much of them as the type tells.
#[doc(hidden)]
#[macro_export]
macro_rules! __facts {
    ($error:ty) => {{
        #[allow(unused_imports)]
        use $crate::__private::{
            KindsAndSource as _, KindsOnly as _, Opaque as _, PointsToError as _, SourceOnly as _,
            WrapsAnything as _, WrapsPointer as _,
        };
        (&&&&&&$crate::__private::Probe::<$error>::new()).__resilience_facts()
    }};
}

#[cfg(test)]
mod tests {
    use std::{fmt, io};

    use super::*;
    use crate::{BulkheadFull, Error};

    fn refusal() -> Error {
        BulkheadFull::new("b".into()).into()
    }

    #[derive(Debug)]
    struct Wrapper(Error);

    impl fmt::Display for Wrapper {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("wrapped")
        }
    }

    impl StdError for Wrapper {
        fn source(&self) -> Option<&(dyn StdError + 'static)> {
            Some(&self.0)
        }
    }

    struct Named;

    impl ErrorKind for Named {
        fn kinds(&self) -> &'static [&'static str] {
            &["named"]
        }
    }

    #[derive(Debug)]
    struct Both(Wrapper);

    impl fmt::Display for Both {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("both")
        }
    }

    impl StdError for Both {
        fn source(&self) -> Option<&(dyn StdError + 'static)> {
            Some(&self.0)
        }
    }

    impl ErrorKind for Both {
        fn kinds(&self) -> &'static [&'static str] {
            &["both"]
        }
    }

    #[test]
    fn an_error_kind_tells_its_kinds() {
        let facts = crate::__facts!(Named);
        assert_eq!(facts(&Named).kinds, ["named"]);
        assert!(facts(&Named).refusal.is_none());
    }

    #[test]
    fn an_error_kind_that_is_a_standard_error_tells_kinds_and_sources() {
        let facts = crate::__facts!(Both);
        let error = Both(Wrapper(refusal()));
        assert_eq!(facts(&error).kinds, ["both"]);
        assert_eq!(facts(&error).refusal.as_deref(), Some(&refusal()));
    }

    #[test]
    fn a_refusal_is_found_among_the_sources_of_a_standard_error() {
        let facts = crate::__facts!(Wrapper);
        assert_eq!(facts(&Wrapper(refusal())).refusal.as_deref(), Some(&refusal()));
    }

    #[test]
    fn a_refusal_is_found_behind_a_boxed_error() {
        type Boxed = Box<dyn StdError + Send + Sync>;
        let facts = crate::__facts!(Boxed);
        let error: Boxed = Box::new(Wrapper(refusal()));
        assert_eq!(facts(&error).refusal.as_deref(), Some(&refusal()));
    }

    #[test]
    fn a_boxed_io_error_keeps_its_kinds() {
        let facts = crate::__facts!(Box<dyn StdError>);
        let error: Box<dyn StdError> = Box::new(io::Error::from(io::ErrorKind::TimedOut));
        assert_eq!(facts(&error).kinds, ["timeout", "io"]);
    }

    #[test]
    fn the_librarys_error_is_its_own_refusal() {
        let facts = crate::__facts!(Error);
        assert_eq!(facts(&refusal()).kinds, ["bulkhead_full"]);
        assert_eq!(facts(&refusal()).refusal.as_deref(), Some(&refusal()));
    }

    #[test]
    fn a_refusal_is_found_in_a_call_error_whatever_else_it_may_carry() {
        type Boxed = Box<dyn StdError + Send + Sync>;
        macro_rules! assert_found {
            ($ty:ty, $error:expr) => {
                let error: $ty = $error;
                let facts = crate::__facts!($ty)(&error);
                assert_eq!(facts.refusal.as_deref(), Some(&refusal()), stringify!($ty));
            };
        }
        assert_found!(CallError<u8>, refusal().into());
        assert_found!(CallError<Named>, refusal().into());
        assert_found!(CallError<Wrapper>, CallError::Inner(Wrapper(refusal())));
        assert_found!(CallError<Boxed>, refusal().into());
        assert_found!(CallError<Boxed>, CallError::Inner(Box::new(refusal())));
        assert_found!(Box<CallError<u8>>, Box::new(refusal().into()));
        assert_found!(Rc<CallError<u8>>, Rc::new(refusal().into()));
        assert_found!(Arc<CallError<Boxed>>, Arc::new(refusal().into()));
        let call_error = CallError::<u8>::from(refusal());
        assert_found!(&CallError<u8>, &call_error);
    }

    #[test]
    fn a_refusal_is_found_behind_a_pointer_that_is_an_error_itself() {
        let facts = crate::__facts!(Arc<dyn StdError>);
        let error: Arc<dyn StdError> = Arc::new(refusal());
        assert_eq!(facts(&error).refusal.as_deref(), Some(&refusal()));
        let facts = crate::__facts!(Arc<Error>);
        assert_eq!(facts(&Arc::new(refusal())).refusal.as_deref(), Some(&refusal()));
    }

    #[test]
    fn a_boxed_error_keeps_its_kinds() {
        assert_eq!(crate::__facts!(Box<Named>)(&Box::new(Named)).kinds, ["named"]);
    }

    #[test]
    fn any_other_type_tells_nothing() {
        let facts = crate::__facts!(u8);
        assert!(facts(&1).kinds.is_empty());
    }

    #[test]
    fn an_error_that_borrows_tells_its_kinds() {
        struct Borrows<'a>(&'a str);
        impl ErrorKind for Borrows<'_> {
            fn kinds(&self) -> &'static [&'static str] {
                if self.0.is_empty() { &["empty"] } else { &["text"] }
            }
        }
        fn kinds<'a>(error: &Borrows<'a>) -> &'static [&'static str] {
            (crate::__facts!(Borrows<'a>))(error).kinds
        }
        assert_eq!(kinds(&Borrows("")), ["empty"]);
    }

    #[test]
    fn nothing_is_asked_of_a_type_parameter_but_its_bounds() {
        fn kinds<E: ErrorKind>(error: &E) -> &'static [&'static str] {
            (crate::__facts!(E))(error).kinds
        }
        fn source<E: StdError>(error: &E) -> Option<Cow<'_, Error>> {
            (crate::__facts!(E))(error).refusal
        }
        assert_eq!(kinds(&Named), ["named"]);
        assert_eq!(source(&Wrapper(refusal())).as_deref(), Some(&refusal()));
    }
}
