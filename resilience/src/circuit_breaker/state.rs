use std::{fmt, str::FromStr, sync::Arc};

/// The state of a circuit breaker.
///
/// # Examples
///
/// ```
/// use resilience::circuit_breaker::State;
///
/// assert_eq!(State::HalfOpen.to_string(), "HALF_OPEN");
/// assert_eq!("forced-open".parse(), Ok(State::ForcedOpen));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum State {
    /// Calls pass and are counted; too many failed or slow ones open the breaker.
    Closed,
    /// Calls are refused until the wait is over.
    Open,
    /// A limited number of probes passes; their results close or reopen the breaker.
    HalfOpen,
    /// Calls are refused until somebody changes the state by hand.
    ForcedOpen,
    /// Calls pass and are not counted.
    Disabled,
    /// Calls pass and are counted, and nothing follows from it but events.
    MetricsOnly,
}

impl State {
    /// All six states.
    pub const ALL: [State; 6] = [
        State::Closed,
        State::Open,
        State::HalfOpen,
        State::ForcedOpen,
        State::Disabled,
        State::MetricsOnly,
    ];

    /// Returns Resilience4j's name of the state, such as `HALF_OPEN`.
    pub const fn as_str(self) -> &'static str {
        match self {
            State::Closed => "CLOSED",
            State::Open => "OPEN",
            State::HalfOpen => "HALF_OPEN",
            State::ForcedOpen => "FORCED_OPEN",
            State::Disabled => "DISABLED",
            State::MetricsOnly => "METRICS_ONLY",
        }
    }

    /// Returns whether a breaker may go from this state to `to`.
    ///
    /// A closed breaker does not become half-open, and a metrics-only one neither opens nor
    /// becomes half-open. Everything else is allowed, also from a state to itself.
    pub const fn can_become(self, to: State) -> bool {
        !matches!(
            (self, to),
            (State::Closed | State::MetricsOnly, State::HalfOpen)
                | (State::MetricsOnly, State::Open)
        )
    }

    /// Whether calls are told to listeners in this state.
    pub(super) const fn tells_calls(self) -> bool {
        !matches!(self, State::Disabled | State::ForcedOpen)
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A text that names no [`State`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownState(String);

impl fmt::Display for UnknownState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = State::ALL.map(State::as_str).join(", ");
        write!(f, "`{}` is no state of a circuit breaker: expected one of {names}", self.0)
    }
}

impl std::error::Error for UnknownState {}

impl FromStr for State {
    type Err = UnknownState;

    /// Reads a state's name in any case, with `_`, `-` or nothing between the words.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wanted = resilience_settings::canonical(text);
        State::ALL
            .into_iter()
            .find(|state| resilience_settings::canonical(state.as_str()) == wanted)
            .ok_or_else(|| UnknownState(text.to_owned()))
    }
}

/// A change of state that a circuit breaker does not make; nothing has changed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct IllegalTransition {
    /// The name of the circuit breaker.
    pub instance: Arc<str>,
    /// The state it is in.
    pub from: State,
    /// The state that was asked for.
    pub to: State,
}

impl fmt::Display for IllegalTransition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { instance, from, to } = self;
        write!(
            f,
            "CircuitBreaker '{instance}' tried an illegal state transition from {from} to {to}"
        )
    }
}

impl std::error::Error for IllegalTransition {}
