//! The instances of every pattern: the one place of a registry that lists the patterns.

use super::instances::{Instances, Locked};
use crate::{Bulkhead, CircuitBreaker, RateLimiter, Retry, ThreadPoolBulkhead, TimeLimiter};

/// Takes a `$` first, for the macros that it defines.
macro_rules! all_instances {
    ($d:tt $($field:ident: $instance:ident),* $(,)?) => {
        /// The instances of every pattern.
        #[derive(Debug, Default)]
        pub(super) struct AllInstances {
            $(pub(super) $field: Instances<$instance>,)*
        }

        /// The same while everybody else is kept out.
        pub(super) struct AllLocked<'a> {
            $(pub(super) $field: Locked<'a, $instance>,)*
        }

        impl AllInstances {
            /// Always in one order, so that two who do so cannot wait for each other.
            pub(super) fn lock(&self) -> AllLocked<'_> {
                AllLocked { $($field: self.$field.lock(),)* }
            }
        }

        /// Does the same for the instances of every pattern: what that comes to, as an array.
        macro_rules! each {
            (mut $d all:expr, |$d instances:ident| $d body:expr) => {
                [$({
                    let $d instances = &mut $d all.$field;
                    $d body
                }),*]
            };
            ($d all:expr, |$d instances:ident| $d body:expr) => {
                [$({
                    let $d instances = &$d all.$field;
                    $d body
                }),*]
            };
        }

        /// Does something for the instances of one pattern.
        macro_rules! of_pattern {
            ($d pattern:expr, $d all:expr, |$d instances:ident| $d body:expr) => {
                match $d pattern {
                    $(Pattern::$instance => {
                        let $d instances = &$d all.$field;
                        $d body
                    })*
                }
            };
        }
    };
}

all_instances! { $
    circuit_breakers: CircuitBreaker,
    retries: Retry,
    rate_limiters: RateLimiter,
    time_limiters: TimeLimiter,
    bulkheads: Bulkhead,
    thread_pools: ThreadPoolBulkhead,
}

pub(super) use {each, of_pattern};
