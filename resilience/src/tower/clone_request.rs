use crate::sealed::Sealed;

/// How a copy of a request is made for another attempt: [`ByClone`], or a function; sealed.
#[diagnostic::on_unimplemented(
    message = "`{R}` cannot be sent again: it is not `Clone`",
    label = "of a `{R}` no copy can be made",
    note = "`.clone_request(|_: &{R}| None)` makes one attempt; a function that returns `Some` where a \
            copy can be made allows more"
)]
pub trait CloneRequest<R>: Clone + Sealed<R> {
    /// A copy of the request, or `None` when it can be sent only once.
    fn clone_request(&self, request: &R) -> Option<R>;
}

/// Copies requests by `Clone`.
#[derive(Debug, Clone, Copy, Default)]
pub struct ByClone;

impl<R: Clone> Sealed<R> for ByClone {}

// The bound that fails is no help: it is not the request's type that should change.
#[diagnostic::do_not_recommend]
impl<R: Clone> CloneRequest<R> for ByClone {
    fn clone_request(&self, request: &R) -> Option<R> {
        Some(request.clone())
    }
}

impl<R> Sealed<R> for fn(&R) -> Option<R> {}

impl<R> CloneRequest<R> for fn(&R) -> Option<R> {
    fn clone_request(&self, request: &R) -> Option<R> {
        self(request)
    }
}

/// The way to change the field `copy` of a layer; `$rest` are its other fields.
macro_rules! repeating {
    ($layer:ident; $($rest:ident),*) => {
        /// Copies requests by this function instead of by `Clone`; where it gives `None` the call
        /// has one attempt.
        ///
        /// It is asked before an attempt, for the next one: a copy that it makes no copy of is the
        /// last that is sent.
        #[must_use]
        pub fn clone_request<R>(self, copy: fn(&R) -> Option<R>) -> $layer<C, fn(&R) -> Option<R>> {
            $layer { copy, $($rest: self.$rest),* }
        }
    };
}

pub(super) use repeating;
