//! Reads a duration, writes it and reads it back.

#![no_main]

use libfuzzer_sys::fuzz_target;
use resilience_tests::soundness;

fuzz_target!(|text: &str| {
    let _ = soundness::duration(text); // refusing it is as good
});
