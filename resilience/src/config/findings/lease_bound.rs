//! What leases let through beyond a global limit: a bound that who runs the program should know.

use resilience_settings::Pattern;

use super::{Finding, Subjects};

pub(crate) const CODE: &str = "lease_bound";
const LEASE: &str = "lease";

pub(super) fn check(subjects: &Subjects, found: &mut Vec<Finding>) {
    let nodes = u64::from(subjects.nodes());
    for limiter in subjects.instances(Pattern::RateLimiter) {
        let settings = limiter.settings();
        let lease = settings.u32(LEASE);
        if !settings.is_global() || lease == 1 {
            continue;
        }
        let most = nodes * u64::from(lease - 1);
        let message = format!(
            "all processes together may let up to {most} calls beyond the limit through: {nodes} (`redis.nodes`) \
             x (lease - 1)"
        );
        found.push(limiter.finding(CODE, LEASE, message).hint());
    }
}

#[cfg(all(test, feature = "config"))]
mod tests {
    use super::super::support::{fires, texts};

    const GLOBAL: &str = "
redis: { url: redis://a, namespace: x, nodes: 3 }
ratelimiter.instances.orders: { limit_refresh_period: 1s, scope: global, on_store_failure: open,
  lease: 20 }";

    #[test]
    fn the_bound_of_a_lease_is_told() {
        let texts = texts(super::CODE, GLOBAL);
        let expected = "<text>:4: ratelimiter.instances.orders.lease = 20: all processes together may \
                        let up to 57 calls beyond the limit through: 3 (`redis.nodes`) x (lease - 1)";
        assert_eq!(texts, [expected]);
    }

    #[test]
    fn without_leases_there_is_nothing_to_tell() {
        assert!(!fires(super::CODE, &GLOBAL.replace("lease: 20", "lease: 1")));
    }
}
