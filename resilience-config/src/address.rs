use std::sync::Arc;

use resilience_settings::{Key, Pattern, Type, canonical, same_name, schema};

use crate::{
    hint::Hints,
    key_path::{Segment, joined},
    legacy,
    property::Leaf,
    tree::Group,
};

/// What a property is about.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Address {
    /// A section without content: it says nothing.
    EmptySection,
    /// `strict`
    Strict,
    /// `error_kind_aliases.<class>`
    Alias(String),
    /// `<pattern>.enabled`
    PatternEnabled(Pattern),
    /// An entry without a value of its own.
    Entry(EntryAddress),
    /// One key of one entry.
    Key(KeyAddress),
    /// One key of the section `redis`.
    Store(StoreAddress),
    /// Read without complaint, does nothing, and why.
    WithoutEffect(String, &'static str),
}

/// An entry, and the line of its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct EntryAddress {
    pub(crate) pattern: Pattern,
    pub(crate) group: Group,
    pub(crate) name: String,
    pub(crate) line: Option<usize>,
}

/// A key of an entry, and the line of the key.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct KeyAddress {
    pub(crate) entry: EntryAddress,
    /// The key as it was written, with an index but without a kind.
    pub(crate) key: String,
    pub(crate) line: Option<usize>,
    /// What comes below the key: the kind of a count.
    pub(crate) below: Option<String>,
}

/// A key of the section `redis`, and the line of the key.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct StoreAddress {
    /// The key as it was written, with an index.
    pub(crate) key: String,
    pub(crate) line: Option<usize>,
    /// What comes below the key, where no key has anything.
    pub(crate) below: Option<String>,
}

/// A path that leads nowhere.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Astray {
    pub(crate) path: String,
    pub(crate) line: Option<usize>,
    message: &'static str,
    /// What may stand there; empty when it is no matter of names.
    known: Vec<&'static str>,
    /// The last key of the path, where it is to be one of those.
    wrong: Arc<str>,
}

impl Astray {
    fn new(path: String, line: Option<usize>, message: &'static str) -> Self {
        Self { path, line, message, known: Vec::new(), wrong: "".into() }
    }

    fn unknown_section(path: String, segment: &Segment, known: Vec<&'static str>) -> Self {
        let wrong = Arc::clone(&segment.text);
        Self { known, wrong, ..Self::new(path, segment.line, "unknown section") }
    }

    /// Which part of the path is wrong and what it might have been.
    pub(crate) fn message(&self, hints: &Hints) -> String {
        if self.known.is_empty() {
            return self.message.to_owned();
        }
        format!("{}{}", self.message, hints.nearest_or_all(&self.wrong, &self.known))
    }
}

/// The section of the store that processes share.
pub(crate) const STORE: &str = "redis";

/// The keys at the top level beside the pattern sections.
const TOP_LEVEL: [&str; 3] = ["strict", "error_kind_aliases", STORE];

/// Whether a key at the top level is the section `redis`.
pub(crate) fn is_store(segment: &str) -> bool {
    same_name(segment, STORE)
}

/// Whether a key at the top level is one of ours: a pattern section or `strict` and its like.
#[cfg(feature = "files")]
pub(crate) fn is_ours(segment: &str) -> bool {
    Pattern::from_section(segment).is_some() || TOP_LEVEL.iter().any(|key| same_name(key, segment))
}

/// Whether a key names a section that a pattern has.
#[cfg(feature = "files")]
pub(crate) fn is_section(segment: &str) -> bool {
    let sections = ["instances", "backends", "limiters", "configs", "budgets", "enabled"];
    sections.contains(&canonical(segment).as_str())
}

/// Every name that may stand at the top level.
pub(crate) fn top_level_names() -> Vec<&'static str> {
    Pattern::ALL.iter().map(|pattern| pattern.section()).chain(TOP_LEVEL).collect()
}

/// Finds out what the property at `path`, below the root, is about.
///
/// # Errors
///
/// Where the path goes astray.
pub(crate) fn locate(path: &[Segment], leaf: &Leaf) -> Result<Address, Astray> {
    let Some((first, rest)) = path.split_first() else {
        return empty_or(leaf, Astray::new(String::new(), None, "expected sections"));
    };
    if let Some(pattern) = Pattern::from_section(&first.text) {
        return in_pattern(pattern, rest, leaf);
    }
    if is_store(&first.text) {
        return in_store(rest, leaf);
    }
    match canonical(&first.text).as_str() {
        "strict" if rest.is_empty() => return Ok(Address::Strict),
        "errorkindaliases" if rest.is_empty() && *leaf == Leaf::Empty => {
            return Ok(Address::EmptySection);
        }
        "errorkindaliases" if !rest.is_empty() => return Ok(Address::Alias(joined(rest))),
        _ => {}
    }
    if let Some((section, reason)) = legacy::jvm_section(&first.text) {
        return Ok(Address::WithoutEffect(section.to_owned(), reason));
    }
    if let Some((key, reason)) = without_effect(&first.text) {
        return Ok(Address::WithoutEffect(key.to_owned(), reason));
    }
    Err(Astray::unknown_section(first.text.to_string(), first, top_level_names()))
}

/// A section that ends here may be empty and nothing else.
fn empty_or(leaf: &Leaf, astray: Astray) -> Result<Address, Astray> {
    if *leaf == Leaf::Empty { Ok(Address::EmptySection) } else { Err(astray) }
}

fn in_store(path: &[Segment], leaf: &Leaf) -> Result<Address, Astray> {
    let Some((key, below)) = path.split_first() else {
        let message = "expected a section such as { url: 'redis://127.0.0.1', namespace: shop }";
        return empty_or(leaf, Astray::new(STORE.into(), None, message));
    };
    let below = if below.is_empty() { None } else { Some(joined(below)) };
    Ok(Address::Store(StoreAddress { key: key.text.to_string(), line: key.line, below }))
}

fn in_pattern(pattern: Pattern, path: &[Segment], leaf: &Leaf) -> Result<Address, Astray> {
    let Some((first, rest)) = path.split_first() else {
        let message = "expected a section with configs and instances";
        return empty_or(leaf, Astray::new(pattern.section().into(), None, message));
    };
    let group = match canonical(&first.text).as_str() {
        "instances" | "backends" => Group::Instances,
        "limiters" if pattern == Pattern::RateLimiter => Group::Instances,
        "configs" => Group::Configs,
        "budgets" if pattern == Pattern::Retry => Group::Budgets,
        "enabled" if rest.is_empty() => return Ok(Address::PatternEnabled(pattern)),
        _ => {
            let known = legacy::jvm_section(&first.text).or_else(|| without_effect(&first.text));
            if let Some((key, reason)) = known {
                return Ok(Address::WithoutEffect(format!("{pattern}.{key}"), reason));
            }
            let path = format!("{pattern}.{}", first.text);
            return Err(if pattern.key(&first.text).is_some() {
                let message = "a key belongs under instances.<name> or configs.<name>";
                Astray::new(path, first.line, message)
            } else {
                let budgets = (pattern == Pattern::Retry).then_some("budgets");
                let known = ["configs", "instances", "enabled"].into_iter().chain(budgets);
                Astray::unknown_section(path, first, known.collect())
            });
        }
    };
    in_group(pattern, group, rest, leaf)
}

fn in_group(
    pattern: Pattern,
    group: Group,
    path: &[Segment],
    leaf: &Leaf,
) -> Result<Address, Astray> {
    let here = || format!("{pattern}.{}", group.name());
    if path.is_empty() {
        let message = match group {
            Group::Budgets => "expected a section of names, such as { payment: { ratio: 0.2 } }",
            _ => "expected a section of names, such as { payment: { enabled: true } }",
        };
        return empty_or(leaf, Astray::new(here(), None, message));
    }
    let name_length = name_length((pattern, group), path, leaf);
    let name = joined(&path[..name_length]);
    let line = path[name_length - 1].line;
    let entry = EntryAddress { pattern, group, name, line };
    let mut below = &path[name_length..];
    // An older shape of the thread pool's settings has one level more.
    if pattern == Pattern::ThreadPoolBulkhead
        && below.len() > 1
        && same_name(&below[0].text, "threadpoolproperties")
    {
        below = &below[1..];
    }
    let Some((key, kind)) = below.split_first() else {
        if matches!(leaf, Leaf::Empty) {
            return Ok(Address::Entry(entry));
        }
        let path = format!("{}.{}", here(), entry.name);
        let message = match group {
            Group::Budgets => "expected a section of settings, such as { ratio: 0.2 }",
            _ => "expected a section of settings, such as { enabled: true }",
        };
        return Err(Astray::new(path, line, message));
    };
    let below = if kind.is_empty() { None } else { Some(joined(kind)) };
    Ok(Address::Key(KeyAddress { entry, key: key.text.to_string(), line: key.line, below }))
}

/// How many segments are the entry's name.
///
/// Names may have dots. A written key with something nested below it is a name as a whole; in a
/// key that goes on to the value (`instances.payment.cb.max_attempts`), the last segment is the key.
fn name_length((pattern, group): (Pattern, Group), path: &[Segment], leaf: &Leaf) -> usize {
    let written = 1 + path[1..].iter().take_while(|segment| segment.joined).count();
    let counts = |segment: &Segment| {
        group.key(pattern, &segment.text).is_some_and(|(_, key)| key.ty == Type::Counts)
    };
    // Below a count stand kinds, which have dots as well when they are class names.
    if let Some(at) = path[1..written].iter().position(counts) {
        return at + 1;
    }
    let goes_on = written < path.len();
    // `instances.payment.cb: {}`
    let empty_entry = *leaf == Leaf::Empty && group.key(pattern, &path[written - 1].text).is_none();
    if goes_on || empty_entry || written == 1 { written } else { written - 1 }
}

/// A key of Resilience4j that does nothing here, and why.
pub(crate) fn without_effect(key: &str) -> Option<(&'static str, &'static str)> {
    schema::WITHOUT_EFFECT.iter().copied().find(|(name, _)| same_name(name, key))
}

/// The message for a key that no version had.
pub(crate) fn unknown_key((pattern, group): (Pattern, Group), key: &str, hints: &Hints) -> String {
    unknown_among(group.keys(pattern), group.has_bases().then_some("base_config"), key, hints)
}

/// The same for any table of keys, with another one that is in none.
pub(crate) fn unknown_among(
    keys: &'static [Key],
    other: Option<&'static str>,
    key: &str,
    hints: &Hints,
) -> String {
    let names = || keys.iter().map(|key| key.name).chain(other);
    let aliases = || keys.iter().flat_map(|key| key.aliases).copied();
    let hint = hints
        .did_you_mean(key, names())
        .or_else(|| hints.did_you_mean(key, aliases()))
        .unwrap_or_else(|| format!("; known are {}", names().collect::<Vec<_>>().join(", ")));
    format!("unknown key{hint}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key_path::KeyPath;

    fn at(keys: &[&str]) -> Result<Address, Astray> {
        at_leaf(keys, &Leaf::Text("5".into()))
    }

    fn at_leaf(keys: &[&str], leaf: &Leaf) -> Result<Address, Astray> {
        let mut path = KeyPath::default();
        for key in keys {
            path.push(key, None);
        }
        locate(path.segments(), leaf)
    }

    fn message(astray: &Astray) -> String {
        astray.message(&Hints::default())
    }

    fn key(pattern: Pattern, name: &str, key: &str, below: Option<&str>) -> Address {
        Address::Key(KeyAddress {
            entry: entry(pattern, name),
            key: key.into(),
            line: None,
            below: below.map(str::to_owned),
        })
    }

    fn entry(pattern: Pattern, name: &str) -> EntryAddress {
        EntryAddress { pattern, group: Group::Instances, name: name.into(), line: None }
    }

    #[test]
    fn keys_are_found_however_the_path_is_cut() {
        let wanted = key(Pattern::Retry, "pay", "maxAttempts", None);
        for keys in [
            &["retry", "instances", "pay", "maxAttempts"][..],
            &["retry.instances.pay.maxAttempts"],
            &["retry.instances", "pay.maxAttempts"],
            &["retry.instances.pay", "maxAttempts"],
            &["retry", "backends", "pay", "maxAttempts"],
        ] {
            assert_eq!(at(keys).unwrap(), wanted, "{keys:?}");
        }
    }

    #[test]
    fn a_name_keeps_its_dots() {
        let wanted = key(Pattern::Retry, "a.b", "max_attempts", None);
        for keys in [
            &["retry.instances.a.b.max_attempts"][..],
            &["retry", "instances", "a.b", "max_attempts"],
            &["retry.instances[a.b].max_attempts"],
            &["retry.instances", "[a.b]", "max_attempts"],
        ] {
            assert_eq!(at(keys).unwrap(), wanted, "{keys:?}");
        }
        assert_eq!(
            at_leaf(&["retry.instances", "a.b"], &Leaf::Empty).unwrap(),
            Address::Entry(entry(Pattern::Retry, "a.b"))
        );
    }

    #[test]
    fn budgets_are_entries_of_retry_only() {
        let budget = |key: &str| {
            let entry = EntryAddress { group: Group::Budgets, ..entry(Pattern::Retry, "a.b") };
            Address::Key(KeyAddress { entry, key: key.into(), line: None, below: None })
        };
        assert_eq!(at(&["retry.budgets.a.b.ratio"]).unwrap(), budget("ratio"));
        assert_eq!(
            at(&["retry", "budgets", "a.b", "minPerSecond"]).unwrap(),
            budget("minPerSecond")
        );
        let astray = at(&["bulkhead.budgets.a.ratio"]).unwrap_err();
        assert_eq!(message(&astray), "unknown section; known are configs, instances, enabled");
    }

    #[test]
    fn a_count_has_kinds_below_it() {
        let breaker = Pattern::CircuitBreaker;
        let class = Some("java.io.IOException");
        for keys in [
            &["circuitbreaker", "instances", "a.b", "consecutive_failures", "java.io.IOException"]
                [..],
            &["circuitbreaker.instances.a.b.consecutive_failures.java.io.IOException"],
        ] {
            assert_eq!(at(keys).unwrap(), key(breaker, "a.b", "consecutive_failures", class));
        }
    }

    #[test]
    fn limiters_are_instances_of_the_rate_limiter_only() {
        assert!(at(&["ratelimiter.limiters.a.limitForPeriod"]).is_ok());
        let astray = at(&["retry.limiters.a.maxAttempts"]).unwrap_err();
        assert_eq!(astray.path, "retry.limiters");
        let known = "unknown section; known are configs, instances, enabled, budgets";
        assert_eq!(message(&astray), known);
    }

    #[test]
    fn a_misspelt_pattern_is_named_with_the_nearest() {
        let astray = at(&["circuitbraker", "instances", "a", "x"]).unwrap_err();
        assert_eq!(astray.path, "circuitbraker");
        assert_eq!(message(&astray), "unknown section; did you mean `circuitbreaker`?");
    }

    #[test]
    fn a_key_without_an_entry_is_told_where_it_belongs() {
        let astray = at(&["retry.max_attempts"]).unwrap_err();
        let belongs = "a key belongs under instances.<name> or configs.<name>";
        assert_eq!(message(&astray), belongs);
    }

    #[test]
    fn sections_of_the_jvm_do_nothing() {
        for keys in [
            &["scheduled.executor.corePoolSize"][..],
            &["circuitbreaker.metrics.enabled"],
            &["retry", "tags", "team"],
            &["retry", "retry-aspect-order"],
        ] {
            assert!(matches!(at(keys), Ok(Address::WithoutEffect(..))), "{keys:?}");
        }
    }

    #[test]
    fn the_old_shape_of_thread_pools_is_read() {
        assert_eq!(
            at(&["thread-pool-bulkhead.instances.a", "threadPoolProperties", "queueCapacity"])
                .unwrap(),
            key(Pattern::ThreadPoolBulkhead, "a", "queueCapacity", None)
        );
    }
}
