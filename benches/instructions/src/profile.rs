//! Reads what callgrind wrote. Its format: <https://valgrind.org/docs/manual/cl-format.html>.

const CLOCK: &str = "clock_gettime";
const ALLOCATORS: [&str; 5] = ["malloc", "calloc", "realloc", "posix_memalign", "aligned_alloc"];

/// The sums over all calls.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Profile {
    pub(crate) instructions: u64,
    pub(crate) clock_reads: u64,
    pub(crate) allocations: u64,
}

impl Profile {
    /// Adds up what the functions of `program` took themselves, and counts their calls of the clock
    /// and the allocator.
    pub(crate) fn parse(text: &str, program: &str) -> Result<Self, String> {
        let mut profile = Self::default();
        let (mut own, mut callee) = (false, "");
        let mut lines = text.lines();
        while let Some(line) = lines.next() {
            let unreadable = || format!("callgrind wrote a line that is not understood: {line}");
            if let Some(object) = line.strip_prefix("ob=") {
                own = object == program;
            } else if let Some(function) = line.strip_prefix("cfn=") {
                callee = function.split('@').next().unwrap_or(function);
            } else if let Some(call) = line.strip_prefix("calls=") {
                lines.next(); // what the callee took; it has lines of its own
                let times = call.split(' ').next().and_then(|times| times.parse::<u64>().ok());
                let times = times.ok_or_else(unreadable)?;
                if own && callee == CLOCK {
                    profile.clock_reads += times;
                } else if own && ALLOCATORS.contains(&callee) {
                    profile.allocations += times;
                }
            } else if line.starts_with(|first: char| first.is_ascii_digit()) && own {
                let cost = line.split(' ').nth(1).and_then(|cost| cost.parse::<u64>().ok());
                profile.instructions += cost.ok_or_else(unreadable)?;
            }
        }
        if profile.instructions == 0 {
            return Err("callgrind counted nothing: it did not find the function to count".into());
        }
        Ok(profile)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WRITTEN: &str = "\
version: 1
events: Ir

ob=/lib/libc.so.6
fn=malloc
0 70

ob=/bin/program
fn=counted_calls
12 5
cfn=inner
calls=10 0
12 300
fn=inner
0 40
cob=/lib/libc.so.6
cfn=clock_gettime@@GLIBC_2.17
calls=20 0
0 90
cob=/lib/libc.so.6
cfn=malloc
calls=3 0
0 70
fi=inlined.rs
7 2

totals: 207
";

    #[test]
    fn only_what_the_program_took_itself_counts() {
        let expected = Profile { instructions: 5 + 40 + 2, clock_reads: 20, allocations: 3 };
        assert_eq!(Profile::parse(WRITTEN, "/bin/program"), Ok(expected));
    }

    #[test]
    fn a_profile_of_another_program_is_an_error() {
        assert!(Profile::parse(WRITTEN, "/bin/other").is_err());
    }
}
