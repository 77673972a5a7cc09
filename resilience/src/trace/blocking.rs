use super::{CallSpan, Named};
use crate::error::CallError;

/// Makes a call that blocks its thread, inside a span. Nobody can drop it: if it does not return, it
/// has panicked.
#[inline]
pub(crate) fn blocking_call<T, E>(
    through: &impl Named,
    call: impl FnOnce(&mut CallSpan) -> Result<T, CallError<E>>,
) -> Result<T, CallError<E>> {
    let mut span = CallSpan::start(|| through.names());
    span.in_body(true);
    span.enter();
    let result = call(&mut span);
    span.leave();
    span.end(&result);
    result
}
