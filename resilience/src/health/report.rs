use super::Status;

/// How the process is; see the [module](super).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Health {
    /// What it all comes to.
    pub status: Status,
    /// The circuit breakers that are registered for it.
    pub circuit_breakers: Component,
    /// The rate limiters that are registered for it.
    pub rate_limiters: Component,
    /// The store that limits are shared by, if there is one. It goes by its namespace, and is part of no
    /// status: a limit has its `on_store_failure` for when it is away.
    pub store: Option<Indicator>,
}

/// How the instances of a pattern are.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Component {
    /// What they come to together: [`Status::Unknown`] where there are none.
    pub status: Status,
    /// The instances, sorted by name.
    pub instances: Vec<Indicator>,
}

/// How one instance is.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Indicator {
    /// The name of the instance.
    pub name: String,
    /// How it is.
    pub status: Status,
    /// What that was concluded from, under Resilience4j's names.
    pub details: Vec<(&'static str, Detail)>,
}

/// A value that a status was concluded from.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Detail {
    /// A number, of calls or of permissions.
    Number(i64),
    /// A text: a state, or a percentage such as `50.0%`.
    Text(String),
}

impl Health {
    pub(super) fn of(
        circuit_breakers: Component,
        rate_limiters: Component,
        store: Option<Indicator>,
    ) -> Self {
        let process = Status::Up;
        let status = Status::of_all([process, circuit_breakers.status, rate_limiters.status]);
        Self { status, circuit_breakers, rate_limiters, store }
    }
}

impl Component {
    pub(super) fn of(instances: impl Iterator<Item = Indicator>) -> Self {
        let instances: Vec<_> = instances.collect();
        let status = Status::of_all(instances.iter().map(|indicator| indicator.status));
        Self { status, instances }
    }
}

impl Detail {
    pub(super) fn count(number: u64) -> Self {
        Self::Number(number.try_into().unwrap_or(i64::MAX))
    }
}
