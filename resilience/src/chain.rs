//! The refusal of a nested protected call, wherever it travels in a chain of errors.

use std::{borrow::Cow, error::Error as StdError, io, sync::Arc};

use crate::{
    BulkheadFull, CallError, CallNotPermitted, Error, MaxRetriesExceeded, RequestNotPermitted,
    TimedOut,
};

/// An error in a chain.
type Link<'e> = &'e (dyn StdError + 'static);

/// The first refusal in a chain of errors.
pub(crate) fn first_refusal(mut next: Option<Link<'_>>) -> Option<Cow<'_, Error>> {
    while let Some(error) = next {
        if let Some(refusal) = as_refusal(error) {
            return Some(refusal);
        }
        next = wrapped(error).or_else(|| error.source());
    }
    None
}

fn as_refusal(error: Link<'_>) -> Option<Cow<'_, Error>> {
    macro_rules! one_of {
        ($($refusal:ty),*) => {
            $(if let Some(refusal) = error.downcast_ref::<$refusal>() {
                return Some(Cow::Owned(refusal.clone().into()));
            })*
        };
    }
    if let Some(refusal) = error.downcast_ref() {
        return Some(Cow::Borrowed(refusal));
    }
    one_of!(CallNotPermitted, RequestNotPermitted, BulkheadFull, TimedOut, MaxRetriesExceeded);
    None
}

/// The error in a wrapper that passes for it: such a wrapper's source is the wrapped error's source,
/// so that a chain which is only followed would leave the wrapped error out.
fn wrapped(error: Link<'_>) -> Option<Link<'_>> {
    macro_rules! around {
        ($($wrapped:ty),*) => {
            $(
                if let Some(pointer) = error.downcast_ref::<Box<$wrapped>>() {
                    return Some(&**pointer);
                }
                if let Some(pointer) = error.downcast_ref::<Arc<$wrapped>>() {
                    return Some(&**pointer);
                }
                if let Some(CallError::Inner(inner)) = error.downcast_ref::<CallError<$wrapped>>() {
                    return Some(inner);
                }
            )*
        };
    }
    macro_rules! shared {
        ($($object:ty),*) => {
            $(if let Some(pointer) = error.downcast_ref::<Arc<$object>>() {
                return Some(&**pointer);
            })*
        };
    }
    around!(
        Error,
        CallNotPermitted,
        RequestNotPermitted,
        BulkheadFull,
        TimedOut,
        MaxRetriesExceeded,
        io::Error
    );
    shared!(dyn StdError, dyn StdError + Send, dyn StdError + Send + Sync);
    Some(error.downcast_ref::<io::Error>()?.get_ref()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn full() -> BulkheadFull {
        BulkheadFull::new("b".into())
    }

    fn found(error: impl StdError + 'static) -> bool {
        let refusal = first_refusal(Some(&error));
        refusal.as_deref() == Some(&full().into())
    }

    #[test]
    fn a_refusal_is_found_as_itself_and_as_its_struct() {
        assert!(found(Error::from(full())));
        assert!(found(full()));
    }

    #[test]
    fn a_refusal_is_found_behind_pointers_that_are_errors_themselves() {
        assert!(found(Box::new(Error::from(full()))));
        assert!(found(Arc::new(full())));
        assert!(found(Arc::<dyn StdError + Send + Sync>::from(Box::from(full()))));
        assert!(found(io::Error::other(Arc::new(full()))));
    }

    #[test]
    fn a_refusal_is_found_in_a_call_error_on_either_side() {
        assert!(found(CallError::<io::Error>::Resilience(full().into())));
        assert!(found(CallError::Inner(full())));
        assert!(found(CallError::Inner(io::Error::other(full()))));
        assert!(found(Box::new(CallError::<io::Error>::Resilience(full().into()))));
    }

    #[test]
    fn an_error_without_a_refusal_has_none() {
        assert_eq!(first_refusal(Some(&io::Error::other("down"))), None);
        assert_eq!(first_refusal(None), None);
    }
}
