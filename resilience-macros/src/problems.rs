use std::fmt::Display;

use proc_macro2::Span;
use quote::ToTokens;
use syn::Error;

/// The mistakes found so far: all of them are reported at once.
#[derive(Default)]
pub(crate) struct Problems(Option<Error>);

impl Problems {
    /// Notes a mistake at these tokens.
    pub(crate) fn at(&mut self, tokens: impl ToTokens, message: impl Display) {
        self.push(Error::new_spanned(tokens, message));
    }

    /// Notes a mistake at a place.
    pub(crate) fn at_span(&mut self, span: Span, message: impl Display) {
        self.push(Error::new(span, message));
    }

    pub(crate) fn push(&mut self, error: Error) {
        match &mut self.0 {
            Some(errors) => errors.combine(error),
            none => *none = Some(error),
        }
    }

    /// Whether nothing is wrong so far.
    #[cfg(feature = "checked-names")]
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// The value of a step that may fail.
    pub(crate) fn take<T>(&mut self, result: syn::Result<T>) -> Option<T> {
        result.map_err(|error| self.push(error)).ok()
    }

    pub(crate) fn into_error(self) -> Option<Error> {
        self.0
    }
}
