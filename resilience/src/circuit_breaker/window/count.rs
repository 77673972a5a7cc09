use super::{Call, Sums};

/// Calls that fit in one word, at two bits each.
const PER_WORD: u32 = u64::BITS / 2;

/// The last `size` calls in a ring of bits.
#[derive(Debug, Clone)]
pub(in super::super) struct CountWindow {
    /// Two bits a call: failed, slow. What was never written is never read.
    ring: Box<[u64]>,
    size: u32,
    /// Where the next call goes; once the ring is full, the oldest call stands there.
    next: u32,
    sums: Sums,
}

impl CountWindow {
    pub(super) fn new(size: u32) -> Self {
        let words = size.div_ceil(PER_WORD) as usize;
        Self { ring: vec![0; words].into_boxed_slice(), size, next: 0, sums: Sums::default() }
    }

    pub(super) fn size(&self) -> u32 {
        self.size
    }

    pub(super) fn record(&mut self, call: Call) {
        let is_full = self.is_full();
        let word = &mut self.ring[(self.next / PER_WORD) as usize];
        let shift = self.next % PER_WORD * 2;
        if is_full {
            let oldest = *word >> shift;
            self.sums.remove(Call { failed: oldest & 1 != 0, slow: oldest & 2 != 0 });
        }
        let bits = u64::from(call.failed) | u64::from(call.slow) << 1;
        *word = *word & !(3 << shift) | bits << shift;
        self.sums.add(call);
        self.next = if self.next + 1 == self.size { 0 } else { self.next + 1 };
    }

    pub(super) fn is_full(&self) -> bool {
        self.sums.calls == u64::from(self.size)
    }

    pub(super) fn is_full_of_successes(&self) -> bool {
        self.sums == Sums { calls: self.size.into(), ..Sums::default() }
    }

    pub(super) fn sums(&self) -> Sums {
        self.sums
    }
}
