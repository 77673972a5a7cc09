use std::collections::VecDeque;

use super::{Call, Sums};

const SECOND: u64 = 1_000_000_000;

/// The calls of the last `size` whole seconds of the clock's line.
///
/// Only seconds that saw a call have a bucket: an idle stretch, however long, costs nothing when
/// it ends, and an instance takes memory for what it sees and not for what it is set to.
#[derive(Debug, Clone)]
pub(in super::super) struct TimeWindow {
    buckets: VecDeque<Bucket>,
    size: u32,
    sums: Sums,
}

#[derive(Debug, Clone)]
struct Bucket {
    second: u64,
    sums: Sums,
}

impl TimeWindow {
    pub(super) fn new(size: u32) -> Self {
        Self { buckets: VecDeque::new(), size, sums: Sums::default() }
    }

    pub(super) fn size(&self) -> u32 {
        self.size
    }

    pub(super) fn record(&mut self, call: Call, now: u64) {
        let second = now / SECOND;
        while let Some(oldest) = self.buckets.front()
            && self.is_over(oldest, second)
        {
            self.sums.remove_all(&oldest.sums);
            self.buckets.pop_front();
        }
        match self.buckets.back_mut() {
            Some(bucket) if bucket.second == second => bucket.sums.add(call),
            _ => {
                let mut sums = Sums::default();
                sums.add(call);
                self.buckets.push_back(Bucket { second, sums });
            }
        }
        self.sums.add(call);
    }

    pub(super) fn sums(&self, now: u64) -> Sums {
        let second = now / SECOND;
        match self.buckets.back() {
            Some(newest) if !self.is_over(newest, second) => {
                let over = self.buckets.iter().take_while(|bucket| self.is_over(bucket, second));
                over.fold(self.sums, |mut sums, bucket| {
                    sums.remove_all(&bucket.sums);
                    sums
                })
            }
            _ => Sums::default(),
        }
    }

    /// Whether a bucket has left the window by the time of `second`.
    fn is_over(&self, bucket: &Bucket, second: u64) -> bool {
        bucket.second + u64::from(self.size) <= second
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_calls_of_one_second_take_the_place_of_one() {
        let mut window = TimeWindow::new(2);
        for now in [0, 1, SECOND - 1, SECOND] {
            window.record(Call { failed: false, slow: false }, now);
        }
        assert_eq!(window.buckets.len(), 2);
    }
}
