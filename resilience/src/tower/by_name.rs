use crate::{Bulkhead, CircuitBreaker, RateLimiter, Resilience, Retry, Stack, TimeLimiter};

/// What a registry finds by name.
pub(super) trait ByName: Clone {
    fn by_name(registry: &Resilience, name: &str) -> Self;
}

macro_rules! by_name {
    ($($instance:ty: $get:ident),*) => {$(
        impl ByName for $instance {
            fn by_name(registry: &Resilience, name: &str) -> Self {
                registry.$get(name)
            }
        }
    )*};
}

by_name!(
    Bulkhead: bulkhead,
    CircuitBreaker: circuit_breaker,
    RateLimiter: rate_limiter,
    Retry: retry,
    TimeLimiter: time_limiter
);

impl ByName for Stack {
    /// Every instance of this name that is there: which patterns protect is the configuration's say.
    fn by_name(registry: &Resilience, name: &str) -> Self {
        let mut stack = Stack::builder();
        let mut found = false;
        macro_rules! add {
            ($($find:ident => $layer:ident),*) => {$(
                if let Some(instance) = registry.$find(name) {
                    stack = stack.$layer(instance);
                    found = true;
                }
            )*};
        }
        add!(
            find_retry => retry,
            find_circuit_breaker => circuit_breaker,
            find_rate_limiter => rate_limiter,
            find_time_limiter => time_limiter,
            find_bulkhead => bulkhead
        );
        assert!(
            found,
            "no pattern has an instance '{name}', so a StackLayer of that name would protect \
             nothing; declare it in the configuration, as in `retry.instances.{name}: {{}}`, and \
             load that before the layer is made"
        );
        stack.build()
    }
}

/// The ways to make a layer around its field `instance`.
macro_rules! constructors {
    ($instance:ty, $noun:literal $(, $panics:literal)?; $($field:ident: $value:expr),*) => {
        #[doc = concat!("Makes the layer of ", $noun, ".")]
        pub fn new(instance: $instance) -> Self {
            Self { instance, $($field: $value),* }
        }

        #[doc = concat!("Makes the layer of ", $noun, " that a registry has by this name.")]
        ///
        /// It is looked up now, once: a reload reaches the instance here too, and one that is
        /// [removed](crate::Resilience::remove) later stays in use.
        ///
        /// # Panics
        ///
        /// When the name is none: see [`Resilience::circuit_breaker`](crate::Resilience::circuit_breaker).
        $(#[doc = $panics])?
        pub fn from_registry(registry: &crate::Resilience, name: &str) -> Self {
            Self::new(crate::tower::by_name::ByName::by_name(registry, name))
        }

        #[doc = concat!("Makes the layer of ", $noun, " that the registry of the present [scope](crate::Resilience::scope) has by this name, else the process registry.")]
        ///
        /// It is looked up now, in the scope of now: axum and others apply a layer later, and more than
        /// once.
        ///
        /// # Panics
        ///
        /// As [`from_registry`](Self::from_registry).
        pub fn named(name: &str) -> Self {
            Self::from_registry(&crate::Resilience::present(), name)
        }
    };
}

pub(super) use constructors;
