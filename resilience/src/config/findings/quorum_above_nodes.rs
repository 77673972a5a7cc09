//! A quorum that there are not enough processes for.

use resilience_settings::Pattern;

use super::{Finding, Subjects};

const CODE: &str = "quorum_above_nodes";
const QUORUM: &str = "min_nodes";

pub(super) fn check(subjects: &Subjects, found: &mut Vec<Finding>) {
    let nodes = subjects.nodes();
    for breaker in subjects.instances(Pattern::CircuitBreaker) {
        let settings = breaker.settings();
        let quorum = settings.u32(QUORUM);
        if !settings.is_global() || quorum <= nodes {
            continue;
        }
        let message = format!(
            "all open together once {quorum} processes see too many failures, which `redis.nodes: \
             {nodes}` says are never there"
        );
        let finding = breaker.finding(CODE, QUORUM, message);
        found.push(if nodes == 1 {
            // It may just not have been written.
            finding.instead("write at `redis.nodes` how many processes share the state").hint()
        } else {
            finding.instead(format!("write at most {nodes}"))
        });
    }
}

#[cfg(all(test, feature = "config"))]
mod tests {
    use super::super::support::{fires, texts};

    const GLOBAL: &str = "
redis: { url: redis://a, namespace: x, nodes: 3 }
circuitbreaker.instances.pay: { scope: global, min_nodes: 4 }";

    #[test]
    fn a_quorum_that_never_comes_together_is_told() {
        let expected = "<text>:3: circuitbreaker.instances.pay.min_nodes = 4: all open together once \
                        4 processes see too many failures, which `redis.nodes: 3` says are never \
                        there; write at most 3";
        assert_eq!(texts(super::CODE, GLOBAL), [expected]);
    }

    #[test]
    fn a_number_of_processes_that_nobody_wrote_is_asked_for() {
        let text = GLOBAL.replace(", nodes: 3", "").replace(", min_nodes: 4", "");
        assert!(texts(super::CODE, &text)[0].contains("write at `redis.nodes`"));
    }

    #[test]
    fn a_quorum_that_can_come_together_is_not_questioned() {
        assert!(!fires(super::CODE, &GLOBAL.replace("min_nodes: 4", "min_nodes: 3")));
        assert!(!fires(super::CODE, &GLOBAL.replace("global", "local")));
    }
}
