//! Configuration: from text to checked settings.
//!
//! A [`Config`] is read from YAML, TOML, `.properties` or JSON, from environment variables and from
//! values set in code; every mistake in them comes out at once, with file, line, key and what would
//! be allowed. The shape is Resilience4j's, and so is the file: the `resilience4j:` section of a
//! Spring application's `application.yml` is read as it is.
//!
//! ```yaml
//! resilience:
//!   circuitbreaker:
//!     configs:
//!       default: { sliding_window_size: 50 }
//!     instances:
//!       paymentCb: { failure_rate_threshold: 25, wait_duration_in_open_state: 10s }
//! ```
//!
//! # Shape
//!
//! - **Formats**: YAML, TOML, `.properties`, JSON, told apart by the file's extension.
//! - **Root**: `resilience`, `resilience4j`, or pattern sections at the top level. Beside a root,
//!   other sections are left alone; without one they are errors, but for `spring`.
//! - **Sections**: `retry`, `circuitbreaker`, `ratelimiter`, `timelimiter`, `bulkhead`,
//!   `thread-pool-bulkhead`, each with `configs.<base>`, `instances.<name>` and `enabled`; in `retry`
//!   also `budgets.<name>`; beside them `strict`, `error_kind_aliases` and `redis`, the store of
//!   what processes share.
//! - **Spelling**: keys in `snake_case`, camelCase or kebab-case, words in any case; keys may be
//!   joined with dots at every level. Case and separators do not count in names either: `payCb` and
//!   `pay-cb` are one, and two spellings of one name or key are an error.
//! - **Values**: durations are `500ms`, `1m30s`, `PT5S` or whole milliseconds; lists are sequences,
//!   `key[0]`, or divided by commas; `${name:default}` is looked up in the environment, then among
//!   the files' properties.
//! - **Documents** with `spring.config.activate.on-profile` (`prod & (eu | us)`, `!test`, lists)
//!   apply under those profiles only. Profiles come from the builder's `profile`, else
//!   `RESILIENCE_PROFILES_ACTIVE`, else `SPRING_PROFILES_ACTIVE`, else the files'
//!   `spring.profiles.active`.
//! - **Limits**: 1 MiB, 64 levels, 10,000 values, aliases included; 1024 bytes for a key and those
//!   above it; 64 configs that build on each other.
//!
//! # Who wins
//!
//! From weakest to strongest: built-in defaults, `configs.default`, the arguments of an attribute,
//! the chain of bases that `base_config` names, the instance's own section. Within one section later
//! documents and files win over earlier ones, [`ConfigBuilder::set`] over files, and the environment
//! over all. Lists are replaced as a whole. `enabled: false` of a pattern switches all of it off.
//!
//! `configs.default` lies below every base. In Resilience4j the circuit breaker's bases do not
//! inherit it; a warning lists the values that differ in a `resilience4j` file.
//!
//! # Environment
//!
//! `RESILIENCE_<PATTERN>_INSTANCES_<NAME>_<KEY>`, `RESILIENCE_<PATTERN>_CONFIGS_<NAME>_<KEY>`,
//! `RESILIENCE_RETRY_BUDGETS_<NAME>_<KEY>`, `RESILIENCE_<PATTERN>_ENABLED`, `RESILIENCE_REDIS_<KEY>`,
//! `RESILIENCE_STRICT`, `RESILIENCE_APPLICATION`. Names and keys are matched by letters and digits alone. Variables
//! change what is declared and declare nothing but `configs.default` and `redis`.
//!
//! # The program's name
//!
//! [`ConfigBuilder::application`], else `RESILIENCE_APPLICATION`, else `spring.application.name` in a file
//! names the program in its [metrics](crate::metrics).
//!
//! # What is questionable
//!
//! [`Config::report`] finds settings that are each allowed and make no sense together, such as a time
//! limit below the wait for a bulkhead's slot. `init` does so too, and knows which instances protect one
//! function: [`Resilience::report`](crate::Resilience::report). Neither stops a start.
//!
//! # While the program runs
//!
//! [`Resilience::reload`](crate::Resilience::reload) puts another configuration in force,
//! [`reload_from`](crate::Resilience::reload_from) reads the same sources anew, and with the feature
//! `watch` `Resilience::watch` does so whenever a file changes.
//! [`set_enabled`](crate::Resilience::set_enabled) switches a pattern off and on.
//!
// Under `doc` only, as the file is outside of the package: no build depends on it.
#![cfg_attr(doc, doc = include_str!("../../../docs/settings.md"))]

mod builder;
#[allow(clippy::module_inception)] // every pattern has its `config.rs`, and this one has `Config`
mod config;
pub(crate) mod findings;
mod typed;

pub use builder::ConfigBuilder;
pub use config::Config;
pub use findings::{Finding, Report, Severity};
#[cfg(feature = "config")]
pub use resilience_config::Format;
pub use resilience_config::{ConfigError, Origin, Problem};
pub use resilience_settings::{Pattern, Value};

pub(crate) use findings::{Subject, Subjects, Together};
#[cfg(feature = "watch")]
pub(crate) use resilience_config::Content;
pub(crate) use resilience_config::{
    Draft, Group, Hints, Inline, Settings, contradictions, instance_path, one_line, question,
    shorten, without_store,
};
#[cfg(feature = "cli")]
pub(crate) use resilience_config::{Entry, Member, Node, yaml_tree};
pub(crate) use typed::{kind_list, typed_config};
