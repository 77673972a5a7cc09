//! recloser's breaker.

use recloser::{AsyncRecloser, Recloser};

use crate::settings;

/// A breaker over the last calls.
pub fn breaker() -> AsyncRecloser {
    let breaker = Recloser::custom()
        .error_rate(f32::from(settings::FAILURE_RATE) / 100.0)
        .closed_len(settings::WINDOW as usize)
        .half_open_len(settings::PROBES as usize)
        .open_wait(settings::OPEN);
    breaker.build().into()
}
