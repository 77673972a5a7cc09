//! Loads TOML.

#![no_main]

use libfuzzer_sys::fuzz_target;
use resilience::config::Format;
use resilience_tests::soundness;

fuzz_target!(|text: &str| {
    let _ = soundness::load(text, Format::Toml); // refusing it is as good
});
