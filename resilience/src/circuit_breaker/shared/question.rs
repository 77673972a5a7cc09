use std::{fmt::Display, time::Duration};

use fastrand::Rng;

use super::{
    super::{
        CircuitBreakerConfig, HalfOpenEvaluation, SlidingWindowType, State, engine::ProbesSoFar,
        snapshot::percent,
    },
    counts::Counts,
};

/// What the calls of a count window are counted in by a store, which sees no single calls.
const WINDOW_OF_CALLS: Duration = Duration::from_mins(1);

/// The longest time that is told to a store, which counts microseconds in doubles.
const LONGEST: Duration = Duration::from_hours(24 * 365);

/// The window in which calls of all processes are counted.
pub(super) fn window(config: &CircuitBreakerConfig) -> Duration {
    match config.sliding_window_type() {
        SlidingWindowType::CountBased => WINDOW_OF_CALLS,
        SlidingWindowType::TimeBased => Duration::from_secs(config.sliding_window_size().into()),
    }
}

/// What one exchange tells and asks, beside the settings.
pub(super) struct Question {
    pub(super) exchange: u64,
    /// The stay that was last told of, and the openings that led to it.
    pub(super) generation: u64,
    pub(super) openings: u32,
    pub(super) counts: Counts,
    /// What this process has counted within the window.
    pub(super) recent: Counts,
    pub(super) probes: ProbesSoFar,
    pub(super) wanted: u64,
    /// How many probes a process has at a time.
    pub(super) share: u64,
}

impl Question {
    /// The arguments of the script: the node, then names and numbers.
    pub(super) fn arguments(&self, node: &str, config: &CircuitBreakerConfig) -> Vec<String> {
        let mut arguments = vec![node.to_owned()];
        let mut say = |name: &str, number: &dyn Display| {
            arguments.extend([name.to_owned(), number.to_string()]);
        };
        say("exchange", &self.exchange);
        say("generation", &self.generation);
        say_settings(config, &mut say);
        say("share", &self.share);
        let wait = |opening| {
            micros(Duration::from_nanos(config.open_wait.nanos(opening, &mut Rng::new())))
        };
        say("wait", &wait(1));
        say("next_wait", &wait(self.openings.saturating_add(1)));
        say("calls", &self.counts.calls);
        say("failed", &self.counts.failed);
        say("slow", &self.counts.slow);
        let Counts { calls, failed, slow } = self.recent;
        let sees = |part, threshold| u8::from(calls > 0 && percent(part, calls) >= threshold);
        say("is_failing", &sees(failed, config.failure_rate_threshold()));
        say("is_slowed", &sees(slow, config.slow_call_rate_threshold()));
        let ProbesSoFar { counts, held } = self.probes;
        say("probed", &counts.calls);
        say("probes_failed", &counts.failed);
        say("probes_slow", &counts.slow);
        say("held", &held);
        say("wanted", &self.wanted);
        arguments
    }
}

fn say_settings(config: &CircuitBreakerConfig, say: &mut impl FnMut(&str, &dyn Display)) {
    say("window", &micros(window(config)));
    say("minimum", &config.window_minimum());
    say("failure_rate", &config.failure_rate_threshold());
    say("slow_rate", &config.slow_call_rate_threshold());
    say("min_nodes", &config.min_nodes());
    say("permitted", &config.permitted_number_of_calls_in_half_open_state());
    say("half_open_minimum", &config.half_open_minimum());
    say("half_open_failure_rate", &config.half_open_failure_rate_threshold());
    let is_conclusive = config.half_open_evaluation() == HalfOpenEvaluation::Conclusive;
    say("conclusive", &u8::from(is_conclusive));
    // A node that is well is heard of in that time.
    say("lease", &micros(config.probe_lease().max(config.sync_interval() * 2)));
    say("longest_wait", &micros(Duration::from_millis(config.open_wait.longest())));
    let longest = Duration::from_nanos(config.max_half_open_nanos().unwrap_or(0));
    say("longest_half_open", &micros(longest));
    let then_closed = config.transition_to_state_after_wait_duration() == State::Closed;
    say("then_closed", &u8::from(then_closed));
    let is_automatic = config.automatic_transition_from_open_to_half_open_enabled();
    say("automatic", &u8::from(is_automatic));
}

fn micros(duration: Duration) -> u128 {
    duration.min(LONGEST).as_micros()
}
