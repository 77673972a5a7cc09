//! Registration of the kinds that a derive declares.

/// Lets the whole program know the kinds of one type, so that configuration lists can be checked.
#[doc(hidden)]
#[macro_export]
macro_rules! __declare_kinds {
    ($kinds:expr) => {
        $crate::__private::inventory::submit! {
            $crate::__private::DeclaredKinds { kinds: $kinds }
        }
    };
}
