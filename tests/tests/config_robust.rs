//! Whatever a variable of the environment says, loading ends with a configuration or an error. Files
//! are changed in `corpus.rs`.

use resilience::config::{Config, Format};
use resilience_tests::mutation::{Numbers, PIECES, mutate};

#[test]
fn variables_of_any_kind_are_read_or_warned_of() {
    let mut numbers = Numbers::new(11);
    let seed = "RESILIENCE_CIRCUITBREAKER_INSTANCES_BACKENDA_FAILURERATETHRESHOLD";
    for _ in 0..150 {
        let name = mutate(seed, &mut numbers);
        let value = *numbers.one_of(&PIECES);
        let loaded = Config::builder()
            .text(include_str!("config/application.yml"), Format::Yaml)
            .vars([(name, value)])
            .load();
        if let Err(error) = loaded {
            assert!(error.to_string().contains("environment"), "{error}");
        }
    }
}
