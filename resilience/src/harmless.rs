use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs an observer's code: its panic, even one of the panic's own payload, harms nobody.
pub(crate) fn harmless(code: impl FnOnce()) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(code)) {
        let dropped = catch_unwind(AssertUnwindSafe(|| drop(payload)));
        // A payload that panics when it is dropped twice over is left alone.
        std::mem::forget(dropped);
    }
}
