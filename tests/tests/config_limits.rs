//! What a file within the limits may cost.

#![allow(clippy::unwrap_used)] // helpers of tests may unwrap as the tests themselves do
#![allow(clippy::format_collect)] // the texts are built once and read as they are written

use std::{
    fmt::Write as _,
    time::{Duration, Instant},
};

use resilience::config::{Config, ConfigError, Format, Pattern};

fn load(text: &str, format: Format) -> Result<Config, ConfigError> {
    Config::builder().env(false).text(text, format).load()
}

/// The lines of a section, each made from its number.
fn lines(n: usize, line: impl Fn(usize) -> String) -> String {
    (0..n).fold(String::new(), |mut text, i| {
        let _ = writeln!(text, "    {}", line(i)); // a String takes everything
        text
    })
}

/// What a file may take to load in a debug build on a busy machine; the time of what is compared
/// each with each is a multiple of it.
const GENEROUS: Duration = Duration::from_secs(15);

/// Loads every text, whatever comes of it.
fn load_in_time(texts: &[(&str, String, Format)]) {
    for (name, text, format) in texts {
        let start = Instant::now();
        let _ = load(text, *format); // some are refused
        let took = start.elapsed();
        assert!(took < GENEROUS, "{name}, {} bytes: {took:?}", text.len());
    }
}

/// `configs` that are each based on the one before.
fn chain(length: usize) -> String {
    let based = |i: usize| match i {
        0 => "c0: {}".to_owned(),
        _ => format!("c{i}: {{ base_config: c{} }}", i - 1),
    };
    format!("resilience4j:\n circuitbreaker:\n  configs:\n{}", lines(length, based))
}

fn instances(n: usize, content: impl Fn(usize) -> String) -> String {
    format!("  instances:\n{}", lines(n, |i| format!("i{i}: {{ {} }}", content(i))))
}

#[test]
fn a_chain_of_64_bases_is_read_and_a_longer_one_refused() {
    let config = load(&(chain(64) + &instances(1, |_| "base_config: c63".into())), Format::Yaml);
    assert!(config.unwrap().declares(Pattern::CircuitBreaker, "i0"));
    for text in
        [chain(65), chain(4000), chain(1000) + &instances(1000, |_| "base_config: c999".into())]
    {
        assert_eq!(
            load(&text, Format::Yaml).unwrap_err().to_string(),
            "<text>:68: circuitbreaker.configs.c64.base_config = c63: \
             a chain of more than 64 bases; shorten it"
        );
    }
}

#[test]
fn a_long_chain_and_many_instances_on_it_are_read_in_time() {
    let on = |base: &'static str| move |_| format!("base_config: {base}");
    load_in_time(&[
        ("a chain of 4000", chain(4000), Format::Yaml),
        ("1000 on a chain of 1000", chain(1000) + &instances(1000, on("c999")), Format::Yaml),
        ("4000 on a chain of 64", chain(64) + &instances(4000, on("c63")), Format::Yaml),
        ("4000 without a base", chain(1) + &instances(4000, |_| String::new()), Format::Yaml),
    ]);
}

#[test]
fn a_list_is_inherited_by_thousands_in_time() {
    let kinds: Vec<String> = (0..100_000).map(|n| format!("k{n}")).collect();
    let list = format!("resilience4j.retry.configs.default.retry_exceptions={}\n", kinds.join(","));
    let heirs = lines(5_000, |i| format!("resilience4j.retry.instances.i{i}.max_attempts=3"));
    load_in_time(&[("a long list", list + &heirs, Format::Properties)]);
}

#[test]
fn thousands_of_mistakes_are_told_in_time() {
    let configs =
        |name: &str| format!("  configs:\n{}", lines(2000, |i| format!("{name}{i}: {{}}")));
    let unknown_bases = |known: &str, unknown: &str| {
        let based = instances(2000, |i| format!("base_config: {unknown}{i}"));
        format!("retry:\n{}{based}", configs(known))
    };
    let (x, y) = ("x".repeat(190), "y".repeat(190));
    let keys = |i| format!("sliding_wond_siz_{i}_xxxxxx: 3, slodong_windowed_{i}_xxxx: 4");
    let sections = |name: &str| (0..9900).map(|i| format!("{name}{i}: 1\n")).collect::<String>();
    let same = lines(9900, |_| "k: 1".into());
    load_in_time(&[
        ("short unknown bases", unknown_bases("c", "d"), Format::Yaml),
        ("long unknown bases", unknown_bases(&x, &y), Format::Yaml),
        ("unknown keys", format!("circuitbreaker:\n{}", instances(3000, keys)), Format::Yaml),
        ("no section of ours", sections("circritbraker"), Format::Yaml),
        ("unknown sections", format!("retry: {{}}\n{}", sections("circritbraker")), Format::Yaml),
        ("one key again and again", format!("retry:\n{same}"), Format::Yaml),
    ]);
}

#[test]
fn long_keys_above_many_values_are_read_in_time() {
    let above = |length: usize| -> String {
        (0..60).map(|i| format!("{}{}:\n", " ".repeat(i), "k".repeat(length))).collect()
    };
    let below = (0..9000).map(|i| format!("{}k{i}: 1\n", " ".repeat(60))).collect::<String>();
    let in_retry = |text: String| {
        let text: String = text.lines().map(|line| format!("  {line}\n")).collect();
        format!("retry:\n instances:\n{text}")
    };
    load_in_time(&[
        ("deep", above(15) + &below, Format::Yaml),
        ("long and deep", above(1000) + &below, Format::Yaml),
        ("a deep name", in_retry(above(15) + &below), Format::Yaml),
        ("a long name", in_retry(above(1000) + &below), Format::Yaml),
    ]);
}

#[test]
fn many_spellings_and_kinds_are_read_in_time() {
    // Every number is another choice of the places where a dash stands.
    let dashed = |i: usize| -> String {
        let letters = "maxconcurrentcall".chars().enumerate();
        letters.map(|(at, c)| if i >> at & 1 == 1 { format!("-{c}") } else { c.into() }).collect()
    };
    let old = instances(4900, |i| format!("{}: 3", dashed(i)));
    let counts = lines(9900, |i| format!("k{i}: 3"));
    load_in_time(&[
        ("one old key in many spellings", format!("bulkhead:\n{old}"), Format::Yaml),
        (
            "a count for each of many kinds",
            format!("circuitbreaker.instances.a.consecutive_failures:\n{counts}"),
            Format::Yaml,
        ),
    ]);
}

#[test]
fn what_a_placeholder_costs_counts_for_every_use_of_it() {
    let long_name = format!("p=${{{}:}}\n", "x".repeat(600_000));
    let uses = lines(5000, |i| format!("retry.instances.i{i}.max_attempts=${{p}}"));
    load_in_time(&[("a long name", long_name + &uses, Format::Properties)]);
}

#[test]
fn large_texts_of_every_format_are_read_in_time() {
    let named = |i| format!("retry.instances.i{i}.max_attempts = 3");
    let members = (0..4900).map(|i| format!("\"i{i}\": {{\"max_attempts\": 3}}"));
    let members: Vec<String> = members.collect();
    let json = format!("{{\"retry\": {{\"instances\": {{{}}}}}}}", members.join(",\n"));
    load_in_time(&[
        ("lines", lines(9000, named), Format::Toml),
        ("lines", lines(9000, named), Format::Properties),
        ("an object", json, Format::Json),
        ("a string", format!("{{\"a\": \"{}\"}}", "\\u0041".repeat(170_000)), Format::Json),
        ("a comment", "#".repeat(1_000_000), Format::Yaml),
        ("a scalar", "x".repeat(1_000_000), Format::Yaml),
        ("documents", "---\nspring.profiles: a\n".repeat(9000), Format::Yaml),
        ("brackets", "[".repeat(1_000_000), Format::Properties),
    ]);
}
