//! The limits of a file, and what one within them may cost.

#![allow(clippy::unwrap_used)] // helpers of tests may unwrap as the tests themselves do
#![allow(clippy::format_collect)] // the texts are built once and read as they are written

use std::time::{Duration, Instant};

use resilience::config::{Format, Pattern, Value};
use resilience_tests::config::{error_of, load};

/// Lines that are each made from their number.
fn lines(n: usize, line: impl Fn(usize) -> String) -> String {
    (0..n).fold(String::new(), |text, i| text + &line(i) + "\n")
}

/// The same as entries of a section.
fn entries(n: usize, entry: impl Fn(usize) -> String) -> String {
    lines(n, |i| format!("    {}", entry(i)))
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
    format!("resilience4j:\n circuitbreaker:\n  configs:\n{}", entries(length, based))
}

fn instances(n: usize, content: impl Fn(usize) -> String) -> String {
    format!("  instances:\n{}", entries(n, |i| format!("i{i}: {{ {} }}", content(i))))
}

#[test]
fn what_is_beyond_a_limit_is_refused() {
    let deep = format!("a: {}", "[".repeat(100) + &"]".repeat(100));
    let dotted = ["a"; 70].join(".");
    let many = lines(10_001, |n| format!("k{n}: 1"));
    let laughs = "
a: &a [x,x,x,x,x,x,x,x,x,x]
b: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]
c: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]
d: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c,*c]
e: [*d,*d,*d,*d,*d,*d,*d,*d,*d,*d]
";
    let wide = format!("a: &a {}\nb: [{}]", "x".repeat(1 << 18), ["*a"; 8].join(","));
    let nested_aliases = (1..40).fold("a0: &a0 [[x]]\n".to_owned(), |text, n| {
        format!("{text}a{n}: &a{n} [[*a{}]]\n", n - 1)
    });
    for (text, format, message) in [
        (deep.as_str(), Format::Yaml, "nested deeper than 64 levels"),
        (&nested_aliases, Format::Yaml, "nested deeper than 64 levels"),
        (&format!("{dotted}=1"), Format::Properties, "nested deeper than 64 levels"),
        (
            &format!("{}=1", "k".repeat(1_025)),
            Format::Properties,
            "a key and those above it are longer than 1024 bytes",
        ),
        (&many, Format::Yaml, "more than 10000 values, aliases included"),
        (&many.replace(": ", " = "), Format::Toml, "more than 10000 values, aliases included"),
        (&many.replace(": ", "="), Format::Properties, "more than 10000 values, aliases included"),
        (laughs, Format::Yaml, "more than 10000 values, aliases included"),
        (&wide, Format::Yaml, "more than 1048576 bytes, aliases included"),
        (&" ".repeat((1 << 20) + 1), Format::Yaml, "larger than 1048576 bytes"),
    ] {
        let error = error_of(text, format);
        assert!(error.contains(message), "{message}: {error:.300}");
    }
}

#[test]
fn a_list_of_100_000_kinds_is_read() {
    let kinds: Vec<String> = (0..100_000).map(|n| format!("k{n}")).collect();
    let text = format!("retry.instances.a.retry_errors = {}", kinds.join(","));
    let config = load(&text, Format::Properties).unwrap();
    let (_, value, _) =
        config.effective().into_iter().find(|(path, ..)| path.ends_with("retry_errors")).unwrap();
    assert_eq!(value, Value::Kinds(kinds.into()));
}

#[test]
fn a_chain_of_64_bases_is_read_and_a_longer_one_refused() {
    let config = load(&(chain(64) + &instances(1, |_| "base_config: c63".into())), Format::Yaml);
    assert!(config.unwrap().declares(Pattern::CircuitBreaker, "i0"));
    for text in
        [chain(65), chain(4000), chain(1000) + &instances(1000, |_| "base_config: c999".into())]
    {
        assert_eq!(
            error_of(&text, Format::Yaml),
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
        |name: &str| format!("  configs:\n{}", entries(2000, |i| format!("{name}{i}: {{}}")));
    let unknown_bases = |known: &str, unknown: &str| {
        let based = instances(2000, |i| format!("base_config: {unknown}{i}"));
        format!("retry:\n{}{based}", configs(known))
    };
    let (x, y) = ("x".repeat(190), "y".repeat(190));
    let keys = |i| format!("sliding_wond_siz_{i}_xxxxxx: 3, slodong_windowed_{i}_xxxx: 4");
    let sections = |name: &str| lines(9900, |i| format!("{name}{i}: 1"));
    let same = entries(9900, |_| "k: 1".into());
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
    let indented = |level: usize, key: &str| format!("{}{key}:", " ".repeat(level));
    let above = |length: usize| lines(60, |level| indented(level, &"k".repeat(length)));
    let below = lines(9000, |i| indented(60, &format!("k{i}")));
    let in_retry = |text: String| format!("retry:\n instances:\n  {}", text.replace('\n', "\n  "));
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
    let counts = entries(9900, |i| format!("k{i}: 3"));
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
    let placeholder = |name: String| format!("retry.instances.a.max_attempts=${{{name}}}");
    let members = lines(4900, |i| format!("\"i{i}\": {{\"max_attempts\": 3}},"));
    let json = format!("{{\"retry\": {{\"instances\": {{{members}\"last\": {{}}}}}}}}");
    load_in_time(&[
        ("lines", lines(9000, named), Format::Toml),
        ("lines", lines(9000, named), Format::Properties),
        ("an object", json, Format::Json),
        ("a string", format!("{{\"a\": \"{}\"}}", "\\u0041".repeat(170_000)), Format::Json),
        ("a comment", "#".repeat(1_000_000), Format::Yaml),
        ("a scalar", "x".repeat(1_000_000), Format::Yaml),
        ("documents", "---\nspring.profiles: a\n".repeat(9000), Format::Yaml),
        ("brackets", "[".repeat(1_000_000), Format::Properties),
        ("brackets as a placeholder", placeholder("[".repeat(500_000)), Format::Properties),
        (
            "brackets in brackets as a placeholder",
            placeholder("[".repeat(250_000) + &"]".repeat(250_000)),
            Format::Properties,
        ),
    ]);
}
