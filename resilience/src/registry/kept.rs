use super::{Resilience, instances::Managed};

/// A pattern whose instances a registry keeps, for those who only look.
pub(crate) trait Kept: Managed {
    /// All of them, sorted by name.
    fn all_in(registry: &Resilience) -> Vec<Self>;

    /// The one of this name, if there is one. To find it this way is no use of it: what is declared and
    /// never used is still told of.
    fn find_in(registry: &Resilience, name: &str) -> Option<Self>;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Config, Retry};

    #[test]
    fn to_look_at_an_instance_is_no_use_of_it() {
        let config = Config::builder().env(false).set("retry.instances.a.max_attempts", "2");
        let registry = Resilience::from_config(config.load().unwrap()).unwrap();
        let was_looked_up = || registry.inner.instances.retries.was_looked_up("a");
        assert_eq!(Retry::all_in(&registry).len(), 1);
        assert!(Retry::find_in(&registry, "a").is_some());
        assert!(Retry::find_in(&registry, "b").is_none());
        assert!(!was_looked_up());
        registry.retry("a");
        assert!(was_looked_up());
        assert_eq!(registry.retries().len(), 1);
    }
}
