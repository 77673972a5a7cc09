//! The keys of every pattern. Names, ranges and defaults are Resilience4j's unless the key is ours.

use crate::{Default, Key, Type};

const NANOSECOND: u64 = 1;
const MILLISECOND: u64 = 1_000_000;
const SECOND: u64 = 1_000_000_000;

/// The largest window, in calls or seconds: bounds what one instance can take of memory.
pub const MAX_WINDOW: u64 = 1_000_000;

const MULTIPLIER: Type =
    Type::Float { min: 0.0, min_exclusive: true, max: f64::MAX, max_exclusive: false };
const JITTER: Type = Type::Float { min: 0.0, min_exclusive: false, max: 1.0, max_exclusive: true };

const fn key(name: &'static str, ty: Type, default: Default, doc: &'static str) -> Key {
    Key { name, aliases: &[], ty, default, doc }
}

const fn alias(mut key: Key, aliases: &'static [&'static str]) -> Key {
    key.aliases = aliases;
    key
}

const ENABLED: Key = key(
    "enabled",
    Type::Bool,
    Default::Bool(true),
    "Whether the layer acts; a disabled one passes every call through.",
);

const EVENT_BUFFER: Key = key(
    "event_consumer_buffer_size",
    Type::Integer { min: 1, max: 100_000 },
    Default::Integer(100),
    "How many recent events the instance keeps.",
);

const MAX_KEYS: Key = key(
    "max_keys",
    Type::Integer { min: 1, max: 1_000_000 },
    Default::Integer(10_000),
    "How many keys have an instance of their own; further ones share one.",
);

const KEY_IDLE_TIMEOUT: Key = key(
    "key_idle_timeout",
    Type::Duration { min: MILLISECOND },
    Default::Duration("10m"),
    "How long a key is not used before its instance may go.",
);

const METRIC_KEYS: Key = key(
    "metric_keys",
    Type::Texts { max: 100 },
    Default::EmptyList,
    "The keys that have metrics of their own.",
);

const REGISTER_HEALTH: Key = key(
    "register_health_indicator",
    Type::Bool,
    Default::Bool(false),
    "Whether the health of the process shows the instance.",
);

const FAIL_HEALTH: Key = key(
    "allow_health_indicator_to_fail",
    Type::Bool,
    Default::Bool(false),
    "Whether the instance may turn the health of the process to DOWN.",
);

/// Keys of `circuitbreaker`.
pub const CIRCUIT_BREAKER: &[Key] = &[
    key(
        "failure_rate_threshold",
        Type::PERCENT,
        Default::Float(50.0),
        "Opens at this percentage of failed calls.",
    ),
    key(
        "slow_call_rate_threshold",
        Type::PERCENT,
        Default::Float(100.0),
        "Opens at this percentage of slow calls.",
    ),
    key(
        "slow_call_duration_threshold",
        Type::Duration { min: NANOSECOND },
        Default::Duration("60s"),
        "A call that takes longer than this is slow.",
    ),
    key(
        "slow_call_rate_enabled",
        Type::Bool,
        Default::Bool(true),
        "Whether calls are timed, so that slow ones count. Without, a call that succeeds need not look at the clock.",
    ),
    key(
        "sliding_window_type",
        Type::Word(&["COUNT_BASED", "TIME_BASED"]),
        Default::Word("COUNT_BASED"),
        "Whether the window holds the last calls or the last seconds.",
    ),
    key(
        "sliding_window_size",
        Type::Integer { min: 1, max: MAX_WINDOW },
        Default::Integer(100),
        "How many calls or seconds the window holds.",
    ),
    key(
        "minimum_number_of_calls",
        Type::Integer { min: 1, max: u32::MAX as u64 },
        Default::Integer(100),
        "Rates are undefined with fewer calls than this in the window.",
    ),
    key(
        "expected_rate",
        Type::Float { min: 0.0, min_exclusive: true, max: 1e9, max_exclusive: false },
        Default::Unset,
        "How many calls a second are expected; a check tells where they can never open the breaker.",
    ),
    key(
        "permitted_number_of_calls_in_half_open_state",
        Type::Integer { min: 1, max: MAX_WINDOW },
        Default::Integer(10),
        "How many probes a half-open breaker lets through.",
    ),
    key(
        "wait_duration_in_open_state",
        Type::Duration { min: MILLISECOND },
        Default::Duration("60s"),
        "How long the breaker stays open before it probes; whole milliseconds count.",
    ),
    key(
        "max_wait_duration_in_half_open_state",
        Type::Duration { min: 0 },
        Default::Duration("0ms"),
        "How long the breaker may stay half-open; 0 is without limit.",
    ),
    key(
        "transition_to_state_after_wait_duration",
        Type::Word(&["OPEN", "CLOSED"]),
        Default::Word("OPEN"),
        "Where a half-open breaker goes when its maximum wait is over.",
    ),
    key(
        "initial_state",
        Type::Word(&["CLOSED", "OPEN", "HALF_OPEN", "FORCED_OPEN", "DISABLED", "METRICS_ONLY"]),
        Default::Word("CLOSED"),
        "The state the breaker is created in.",
    ),
    key(
        "automatic_transition_from_open_to_half_open_enabled",
        Type::Bool,
        Default::Bool(false),
        "Whether the breaker becomes half-open when the wait is over, without waiting for a call.",
    ),
    key(
        "enable_exponential_backoff",
        Type::Bool,
        Default::Bool(false),
        "Whether the open time grows with every failed recovery.",
    ),
    key(
        "exponential_backoff_multiplier",
        MULTIPLIER,
        Default::Float(1.5),
        "By what the open time grows.",
    ),
    key(
        "exponential_max_wait_duration_in_open_state",
        Type::Duration { min: MILLISECOND },
        Default::Unset,
        "What the open time grows to at most; unset is without cap.",
    ),
    key(
        "enable_randomized_wait",
        Type::Bool,
        Default::Bool(false),
        "Whether the open time is spread at random.",
    ),
    key(
        "randomized_wait_factor",
        JITTER,
        Default::Float(0.5),
        "By what fraction up and down the open time is spread.",
    ),
    alias(
        key(
            "record_errors",
            Type::Kinds,
            Default::EmptyList,
            "Error kinds that count as failures; empty is all of them.",
        ),
        &["record_exceptions"],
    ),
    alias(
        key(
            "ignore_errors",
            Type::Kinds,
            Default::EmptyList,
            "Error kinds that count neither as failure nor as success.",
        ),
        &["ignore_exceptions"],
    ),
    key(
        "half_open_evaluation",
        Type::Word(&["eager", "conclusive"]),
        Default::Word("eager"),
        "Whether half-open decides at the minimum number of calls or once nothing can change it.",
    ),
    key(
        "half_open_failure_rate_threshold",
        Type::PERCENT,
        Default::Unset,
        "The failure threshold while half-open; unset is `failure_rate_threshold`.",
    ),
    key(
        "half_open_success_threshold",
        Type::Integer { min: 1, max: MAX_WINDOW },
        Default::Unset,
        "Closes a half-open breaker after this many successes in a row; unset leaves it to rates.",
    ),
    key(
        "failure_counting",
        Type::Word(&["rate", "consecutive"]),
        Default::Word("rate"),
        "Whether rates over a window or failures in a row open the breaker.",
    ),
    key(
        "consecutive_failures",
        Type::Counts,
        Default::Integer(5),
        "With `failure_counting: consecutive`, how many failures in a row open the breaker.",
    ),
    key(
        "probe_lease",
        Type::Duration { min: MILLISECOND },
        Default::Duration("60s"),
        "A half-open probe that has not returned after this long loses its slot.",
    ),
    key(
        "open_for_max",
        Type::Duration { min: MILLISECOND },
        Default::Duration("10m"),
        "The longest time for which `open_for` may open the breaker.",
    ),
    key(
        "scope",
        Type::Word(&["local", "global"]),
        Default::Word("local"),
        "Whether the state is that of each process or of all that share a store.",
    ),
    key(
        "min_nodes",
        Type::Integer { min: 1, max: 100_000 },
        Default::Integer(2),
        "How many processes must see too many failures before a global breaker opens in all.",
    ),
    key(
        "sync_interval",
        Type::Duration { min: MILLISECOND },
        Default::Duration("1s"),
        "How often a process speaks with the store about a global breaker.",
    ),
    REGISTER_HEALTH,
    FAIL_HEALTH,
    MAX_KEYS,
    KEY_IDLE_TIMEOUT,
    METRIC_KEYS,
    EVENT_BUFFER,
    ENABLED,
];

/// Keys of `retry`.
pub const RETRY: &[Key] = &[
    key(
        "max_attempts",
        Type::Integer { min: 1, max: u32::MAX as u64 },
        Default::Integer(3),
        "How many times the call is made at most, the first time included.",
    ),
    key(
        "wait_duration",
        Type::Duration { min: 0 },
        Default::Duration("500ms"),
        "How long to wait before the next attempt.",
    ),
    key(
        "enable_exponential_backoff",
        Type::Bool,
        Default::Bool(false),
        "Whether the wait grows with every attempt.",
    ),
    key(
        "exponential_backoff_multiplier",
        MULTIPLIER,
        Default::Float(1.5),
        "By what the wait grows.",
    ),
    key(
        "exponential_max_wait_duration",
        Type::Duration { min: 0 },
        Default::Unset,
        "What the wait grows to at most; unset is without cap.",
    ),
    key(
        "enable_randomized_wait",
        Type::Bool,
        Default::Bool(false),
        "Whether the wait is spread at random.",
    ),
    key(
        "randomized_wait_factor",
        JITTER,
        Default::Float(0.5),
        "By what fraction up and down the wait is spread.",
    ),
    alias(
        key(
            "retry_errors",
            Type::Kinds,
            Default::EmptyList,
            "Error kinds that are retried; empty is all but `call_not_permitted`.",
        ),
        &["retry_exceptions"],
    ),
    alias(
        key("ignore_errors", Type::Kinds, Default::EmptyList, "Error kinds that end the retry."),
        &["ignore_exceptions"],
    ),
    key(
        "fail_after_max_attempts",
        Type::Bool,
        Default::Bool(false),
        "Whether a result that still asks for a retry at the end becomes an error.",
    ),
    key(
        "retry_after_max",
        Type::Duration { min: 0 },
        Default::Duration("30s"),
        "The longest wait that `retry_after` or a refusal may ask for.",
    ),
    key(
        "total_timeout",
        Type::Duration { min: MILLISECOND },
        Default::Unset,
        "No further attempt starts when its wait would end this long after the call's start.",
    ),
    key(
        "budget",
        Type::Name,
        Default::Unset,
        "The budget under `retry.budgets` that the instance's retries are taken from.",
    ),
    MAX_KEYS,
    KEY_IDLE_TIMEOUT,
    METRIC_KEYS,
    EVENT_BUFFER,
    ENABLED,
];

/// Keys of a budget, `retry.budgets.<name>`.
pub const RETRY_BUDGET: &[Key] = &[
    key(
        "ratio",
        Type::Float { min: 0.0, min_exclusive: false, max: 10.0, max_exclusive: false },
        Default::Float(0.2),
        "How many retries there may be for each call of the last ten seconds.",
    ),
    key(
        "min_per_second",
        Type::Integer { min: 0, max: 1_000_000 },
        Default::Integer(10),
        "How many retries a second there may be beside those, however few calls there are.",
    ),
];

/// Keys of `ratelimiter`.
pub const RATE_LIMITER: &[Key] = &[
    key(
        "limit_for_period",
        Type::Integer { min: 1, max: u32::MAX as u64 },
        Default::Integer(50),
        "How many calls a period lets through.",
    ),
    key(
        "limit_refresh_period",
        Type::Duration { min: NANOSECOND },
        Default::Duration("500ns"),
        "How long a period is.",
    ),
    key(
        "timeout_duration",
        Type::Duration { min: 0 },
        Default::Duration("5s"),
        "How long a call may wait for its turn.",
    ),
    key(
        "refill",
        Type::Word(&["interval", "greedy"]),
        Default::Word("interval"),
        "Whether permissions come back all at once with a period or one by one over it.",
    ),
    key(
        "scope",
        Type::Word(&["local", "global"]),
        Default::Word("local"),
        "Whether the limit is that of each process or of all that share a store.",
    ),
    key(
        "algorithm",
        Type::Word(&["fixed_window", "gcra"]),
        Default::Word("fixed_window"),
        "How a global limit counts: in windows of the store's clock, or one by one.",
    ),
    key(
        "on_store_failure",
        Type::Word(&["open", "closed", "local"]),
        Default::Unset,
        "What a global limit does while the store does not decide: let through, refuse, or count here.",
    ),
    key(
        "lease",
        Type::Integer { min: 1, max: 1_000_000 },
        Default::Integer(1),
        "How many permissions of a global limit are fetched at a time.",
    ),
    REGISTER_HEALTH,
    FAIL_HEALTH,
    MAX_KEYS,
    KEY_IDLE_TIMEOUT,
    METRIC_KEYS,
    EVENT_BUFFER,
    ENABLED,
];

/// Keys of `timelimiter`.
pub const TIME_LIMITER: &[Key] = &[
    key(
        "timeout_duration",
        Type::Duration { min: NANOSECOND },
        Default::Duration("1s"),
        "How long a call may take, its wait for a bulkhead slot included.",
    ),
    key(
        "cancel_running_future",
        Type::Bool,
        Default::Bool(true),
        "Whether a call that timed out is cancelled; `false` needs `detach` at the function.",
    ),
    MAX_KEYS,
    KEY_IDLE_TIMEOUT,
    METRIC_KEYS,
    EVENT_BUFFER,
    ENABLED,
];

/// Keys of `bulkhead`.
pub const BULKHEAD: &[Key] = &[
    key(
        "max_concurrent_calls",
        Type::Integer { min: 0, max: u32::MAX as u64 },
        Default::Integer(25),
        "How many calls run at once; 0 refuses every call.",
    ),
    key(
        "max_wait_duration",
        Type::Duration { min: 0 },
        Default::Duration("0ms"),
        "How long a call may wait for a slot.",
    ),
    MAX_KEYS,
    KEY_IDLE_TIMEOUT,
    METRIC_KEYS,
    EVENT_BUFFER,
    ENABLED,
];

/// Keys of `thread-pool-bulkhead`.
pub const THREAD_POOL_BULKHEAD: &[Key] = &[
    key(
        "core_thread_pool_size",
        Type::Integer { min: 1, max: 4_096 },
        Default::ProcessorsMinus(1),
        "How many threads are started before calls queue.",
    ),
    key(
        "max_thread_pool_size",
        Type::Integer { min: 1, max: 4_096 },
        Default::ProcessorsMinus(0),
        "How many threads run at most once the queue is full.",
    ),
    key(
        "queue_capacity",
        Type::Integer { min: 0, max: 1_000_000 },
        Default::Integer(100),
        "How many calls wait for a thread; 0 hands over directly or refuses.",
    ),
    key(
        "keep_alive_duration",
        Type::Duration { min: 0 },
        Default::Duration("20ms"),
        "How long a thread above the core size stays idle before it ends.",
    ),
    EVENT_BUFFER,
    ENABLED,
];

/// Keys of `redis`, the store that processes share.
pub const REDIS: &[Key] = &[
    alias(
        key(
            "urls",
            Type::Addresses { max: 100 },
            Default::Unset,
            "The address of the server, or those of some nodes of a cluster.",
        ),
        &["url"],
    ),
    key(
        "namespace",
        Type::Namespace,
        Default::Unset,
        "What all keys in the server begin with; unset is the application's name.",
    ),
    key(
        "cluster",
        Type::Bool,
        Default::Unset,
        "Whether the addresses are those of a cluster; unset is what their number says.",
    ),
    key(
        "decision_timeout",
        Type::Within { min: MILLISECOND, max: 10 * SECOND },
        Default::Duration("50ms"),
        "How long one decision may take.",
    ),
    key(
        "connect_timeout",
        Type::Within { min: 10 * MILLISECOND, max: 60 * SECOND },
        Default::Duration("1s"),
        "How long an attempt to connect may take.",
    ),
    key(
        "nodes",
        Type::Integer { min: 1, max: 100_000 },
        Default::Integer(1),
        "How many processes share the limits: one's share is taken while the store is away.",
    ),
];

/// Keys of Resilience4j that are read without complaint and have no effect here, with the reason.
///
/// The loader names those it met in one warning.
pub const WITHOUT_EFFECT: &[(&str, &str)] = &[
    ("writable_stack_trace_enabled", "errors carry no stack trace"),
    ("subscribe_for_events", "events are always available"),
    ("fair_call_handling_enabled", "waiting calls are always served in order"),
    ("sliding_window_synchronization_strategy", "the window needs no choice of lock"),
    ("ignore_class_binding_exceptions", "there are no classes to bind"),
    ("context_propagators", "task-locals and spans go along with a call"),
    ("ignore_exceptions_precedence_enabled", "ignored errors always win"),
    ("circuit_breaker_aspect_order", "the order is fixed; nest two functions for another one"),
    ("retry_aspect_order", "the order is fixed; nest two functions for another one"),
    ("rate_limiter_aspect_order", "the order is fixed; nest two functions for another one"),
    ("time_limiter_aspect_order", "the order is fixed; nest two functions for another one"),
    ("bulkhead_aspect_order", "the order is fixed; nest two functions for another one"),
    ("timer_aspect_order", "the order is fixed; nest two functions for another one"),
    ("record_failure_predicate", "write `record = path` at the attribute"),
    ("ignore_exception_predicate", "write `ignore = path` at the attribute"),
    ("record_result_predicate", "write `record_result = path` at the attribute"),
    ("retry_exception_predicate", "write `retry_if = path` at the attribute"),
    ("result_predicate", "write `retry_result = path` at the attribute"),
    ("consume_result_before_retry_attempt", "subscribe to the retry's events"),
    ("interval_bi_function", "write `retry_after = path` at the attribute"),
];
