use super::State;

const STATE_BITS: u32 = 3;
const STATE_MASK: u64 = (1 << STATE_BITS) - 1;
const OFF_BIT: u64 = 1 << STATE_BITS;
const CALM_BIT: u64 = OFF_BIT << 1;
const GENERATION_SHIFT: u32 = STATE_BITS + 2;

/// What calls read of a breaker without a lock, in one word: state, generation, whether it acts at all,
/// and whether it is calm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Word(pub(super) u64);

impl Word {
    pub(super) fn new(state: State, generation: u64, enabled: bool, calm: bool) -> Self {
        let off = if enabled { 0 } else { OFF_BIT };
        let calm = if calm { CALM_BIT } else { 0 };
        Self(generation << GENERATION_SHIFT | calm | off | state as u64)
    }

    /// Whether a call may enter and be counted, with nothing to bring back.
    #[inline]
    pub(super) fn admits_freely(self) -> bool {
        const FREE: u64 = 1 << State::Closed as u64 | 1 << State::MetricsOnly as u64;
        FREE >> (self.0 & (STATE_MASK | OFF_BIT)) & 1 != 0
    }

    pub(super) fn state(self) -> State {
        let index = usize::try_from(self.0 & STATE_MASK).unwrap_or(0);
        State::ALL[index]
    }

    pub(super) fn generation(self) -> u64 {
        self.0 >> GENERATION_SHIFT
    }

    pub(super) fn is_enabled(self) -> bool {
        self.0 & OFF_BIT == 0
    }

    /// Whether a quick success changes nothing but the totals; see [`Engine::is_calm`].
    ///
    /// [`Engine::is_calm`]: super::engine::Engine::is_calm
    pub(super) fn is_calm(self) -> bool {
        self.0 & CALM_BIT != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_gives_back_what_went_into_it() {
        for (i, state) in State::ALL.into_iter().enumerate() {
            for (enabled, calm) in [(true, false), (false, false), (true, true)] {
                let word = Word::new(state, i as u64 + 7, enabled, calm);
                let is_free = matches!(state, State::Closed | State::MetricsOnly) && enabled;
                assert_eq!(word.admits_freely(), is_free, "{word:?}");
                assert_eq!(
                    (word.state(), word.generation(), word.is_enabled(), word.is_calm()),
                    (state, i as u64 + 7, enabled, calm)
                );
            }
        }
    }
}
