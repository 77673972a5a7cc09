//! Loads YAML.

#![no_main]

use libfuzzer_sys::fuzz_target;
use resilience::config::Format;
use resilience_tests::soundness;

fuzz_target!(|text: &str| {
    let _ = soundness::load(text, Format::Yaml); // refusing it is as good
});
