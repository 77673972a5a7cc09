//! Whatever the text, loading ends with a configuration or an error.

#![allow(clippy::unwrap_used)] // helpers of tests may unwrap as the tests themselves do

use resilience::config::{Config, Format};

const SEEDS: [(&str, Format); 5] = [
    (include_str!("config/application.yml"), Format::Yaml),
    (include_str!("config/application.properties"), Format::Properties),
    (
        "[resilience.retry.instances.a]\nmax_attempts = 3\nretry_errors = ['io', \"timeout\"]\n\
         [[other]]\nx = { y = 1979-05-27, z = [1, 2.5] }\n",
        Format::Toml,
    ),
    (
        "{\"circuitbreaker\": {\"instances\": {\"a\": {\"consecutive_failures\": {\"io\": 3}, \
         \"failure_rate_threshold\": 5e1}}}}",
        Format::Json,
    ),
    (
        "x: &x {max_attempts: 3, wait_duration: ${a:${b:1s}}}\nspring.config.activate.on-profile: \
         '!(a|b)&c'\nresilience.retry.instances: {a: *x, b: {<<: [*x]}, '[c.d]': {retryErrors[0]: \
         io}}\n---\nresilience: {error_kind_aliases: {a.B: c}}\n",
        Format::Yaml,
    ),
];

/// Pieces that mean something to a parser.
const PIECES: [&str; 36] = [
    "\n",
    " ",
    "\t",
    ":",
    ": ",
    "- ",
    "[",
    "]",
    "{",
    "}",
    "${",
    "&x ",
    "*x",
    "<<: ",
    "---\n",
    "#---\n",
    "'",
    "\"",
    "\\",
    "\\u00",
    "=",
    ".",
    "[0]",
    "[",
    ",",
    "|",
    "!",
    "(",
    "0",
    "-1",
    "1e999",
    "99999999999h",
    "ä",
    "\u{0}",
    "\u{feff}",
    "null",
];

/// A generator of its own, so that every run tries the same texts.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from((self.0 >> 33) % bound as u64).unwrap()
    }
}

fn mutate(text: &str, numbers: &mut Numbers) -> String {
    let mut chars: Vec<char> = text.chars().collect();
    for _ in 0..=numbers.below(6) {
        let at = numbers.below(chars.len() + 1);
        match numbers.below(4) {
            0 => {
                let end = (at + numbers.below(12)).min(chars.len());
                chars.drain(at..end);
            }
            1 => {
                let from = numbers.below(chars.len() + 1);
                let end = (from + numbers.below(40)).min(chars.len());
                let copy: Vec<char> = chars[from..end].to_vec();
                chars.splice(at..at, copy);
            }
            _ => {
                let piece = PIECES[numbers.below(PIECES.len())];
                chars.splice(at..at, piece.chars());
            }
        }
    }
    chars.into_iter().collect()
}

#[test]
fn mutated_files_are_loaded_or_refused() {
    let mut numbers = Numbers(7);
    let (mut loaded, mut refused) = (0, 0);
    for (seed, format) in SEEDS {
        for _ in 0..150 {
            let text = mutate(seed, &mut numbers);
            match Config::builder().env(false).profile("c").text(&text, format).load() {
                Ok(config) => {
                    let _ = config.effective();
                    loaded += 1;
                }
                Err(error) => {
                    assert!(!error.to_string().is_empty());
                    let on_one_line = |problem: &resilience::config::Problem| {
                        !problem.to_string().contains(['\n', '\u{0}'])
                    };
                    assert!(error.problems().iter().all(on_one_line), "{error:?}");
                    refused += 1;
                }
            }
        }
    }
    // Both ends are reached, or the texts prove nothing.
    assert!(loaded > 20 && refused > 20, "{loaded} loaded, {refused} refused");
}

#[test]
fn variables_of_any_kind_are_read_or_warned_of() {
    let mut numbers = Numbers(11);
    let seed = "RESILIENCE_CIRCUITBREAKER_INSTANCES_BACKENDA_FAILURERATETHRESHOLD";
    for _ in 0..150 {
        let name = mutate(seed, &mut numbers);
        let value = PIECES[numbers.below(PIECES.len())];
        let loaded = Config::builder()
            .text(include_str!("config/application.yml"), Format::Yaml)
            .vars([(name, value)])
            .load();
        if let Err(error) = loaded {
            assert!(error.to_string().contains("environment"), "{error}");
        }
    }
}
