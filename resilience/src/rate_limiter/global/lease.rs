/// Permissions that were fetched from a store and not used yet.
#[derive(Debug, Default)]
pub(super) struct Lease {
    permits: u32,
    /// Nanoseconds on the limiter's clock.
    expires: u64,
}

impl Lease {
    /// Takes permissions if there are enough that have not expired.
    pub(super) fn take(&mut self, permits: u32, now: u64) -> bool {
        let has_them = self.left(now) >= permits;
        if has_them {
            self.permits -= permits;
        }
        has_them
    }

    pub(super) fn left(&self, now: u64) -> u32 {
        if now < self.expires { self.permits } else { 0 }
    }

    /// Puts a block in. What was left was too little for a request, and is given up: it might
    /// expire at another time.
    pub(super) fn put(&mut self, permits: u32, expires: u64) {
        *self = Self { permits, expires };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_fetched_can_be_taken_until_it_expires() {
        let mut lease = Lease::default();
        assert!(!lease.take(1, 0));
        lease.put(3, 100);
        assert!(lease.take(2, 99));
        assert!(!lease.take(2, 99), "one is left");
        assert_eq!(lease.left(99), 1);
        assert!(!lease.take(1, 100), "expired");
        assert_eq!(lease.left(100), 0);
    }
}
