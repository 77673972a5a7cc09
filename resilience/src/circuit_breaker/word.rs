use super::State;

const STATE_BITS: u32 = 3;
const STATE_MASK: u64 = (1 << STATE_BITS) - 1;
const OFF_BIT: u64 = 1 << STATE_BITS;

/// State, generation and whether the breaker acts at all, in one word that is read without a lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Word(pub(super) u64);

impl Word {
    pub(super) fn new(state: State, generation: u64, enabled: bool) -> Self {
        let off = if enabled { 0 } else { OFF_BIT };
        Self(generation << (STATE_BITS + 1) | off | state as u64)
    }

    pub(super) fn state(self) -> State {
        let index = usize::try_from(self.0 & STATE_MASK).unwrap_or(0);
        State::ALL[index]
    }

    pub(super) fn generation(self) -> u64 {
        self.0 >> (STATE_BITS + 1)
    }

    pub(super) fn is_enabled(self) -> bool {
        self.0 & OFF_BIT == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_gives_back_what_went_into_it() {
        for (i, state) in State::ALL.into_iter().enumerate() {
            for enabled in [true, false] {
                let word = Word::new(state, i as u64 + 7, enabled);
                assert_eq!(
                    (word.state(), word.generation(), word.is_enabled()),
                    (state, i as u64 + 7, enabled)
                );
            }
        }
    }
}
