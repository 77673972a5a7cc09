/// An enumeration whose words are those of the key table.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $word:literal,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum $name {
            $($(#[$variant_doc])* $variant,)*
        }

        impl $name {
            /// Returns the word as it is written in a configuration file.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $($name::$variant => $word,)*
                }
            }

            /// Reads a word that the key table has let through.
            pub(super) fn of(word: &str) -> Self {
                match word {
                    $($word => $name::$variant,)*
                    other => panic!("the key table has let through `{other}`"),
                }
            }
        }
    };
}

words! {
    /// What a sliding window holds.
    SlidingWindowType {
        /// The last so many calls.
        CountBased = "COUNT_BASED",
        /// The calls of the last so many seconds, cut at whole seconds of the clock.
        TimeBased = "TIME_BASED",
    }
}

words! {
    /// What opens a circuit breaker.
    FailureCounting {
        /// The share of failed or slow calls in the window.
        Rate = "rate",
        /// Failures in a row, without a success in between; the window is for display only.
        Consecutive = "consecutive",
    }
}

words! {
    /// When a half-open circuit breaker decides.
    HalfOpenEvaluation {
        /// As Resilience4j: once the minimum number of calls, but at most the permitted ones, are
        /// in, either way.
        Eager = "eager",
        /// Once the probes that are still to come could not change the verdict.
        Conclusive = "conclusive",
    }
}
