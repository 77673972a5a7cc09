//! What the processes take of memory, threads and files, each second of their lives. Linux tells; elsewhere
//! nothing is judged.

use std::{collections::BTreeMap, fmt, fs, sync::Arc, time::Duration};

use parking_lot::Mutex;

use crate::system::Ids;

/// After that many seconds of a life under traffic everything has been used once: pools are full and
/// caches are warm.
const WARM: usize = 10;

/// What may be taken more at the end than by a process that was just warm: what bursts leave behind, as the
/// system keeps what was once needed at the same time.
const MEMORY_KB: u64 = 12 * 1024;
/// What may be taken more from one second to the next, of which a process gets a dozen requests. Bursts
/// come and go: a fifth of the seconds, those in which most was taken and those in which least was, say
/// nothing. In healthy runs that came to 10 KiB at most, and to 36 and 48 where each order left 16 behind.
const CREEP_KB: i64 = 20;
/// So many seconds tell it: a process that is ended every now and then is not judged by them.
const TELLING: usize = 30;
/// The threads of a pool come and go.
const THREADS: u64 = 4;
/// The files of a database pool, and connections that are kept for a moment: nobody has any of those yet
/// when a process begins.
const FILES: u64 = 24;

/// What a process takes at a time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Use {
    /// Its own: programs and files that are looked at count for nobody.
    pub(crate) memory_kb: u64,
    pub(crate) threads: u64,
    pub(crate) files: u64,
}

/// The samples of each process, by its service and its number.
type Lives = BTreeMap<(&'static str, u32), Vec<Use>>;

/// What each process took, by service and in the order of its life. Nothing where the system does not
/// tell.
#[derive(Debug, Clone, Default)]
pub(crate) struct Uses(Arc<Mutex<Lives>>);

impl Uses {
    /// Takes a sample of every process each second, until it is dropped.
    pub(crate) async fn sample(&self, ids: &Ids) {
        let mut ticks = tokio::time::interval(Duration::from_secs(1));
        loop {
            ticks.tick().await;
            let ids = ids.lock().clone();
            for (name, id) in ids {
                if let Some(now) = Use::of(id) {
                    self.0.lock().entry((name, id)).or_default().push(now);
                }
            }
        }
    }

    /// What has grown of a process that is idle now.
    pub(crate) fn grown(&self, name: &str, id: u32) -> Vec<String> {
        let (Some(warm), Some(now)) = (self.warm(name), Use::of(id)) else { return Vec::new() };
        let creep = self.creep(name, id).filter(|creep| *creep > CREEP_KB);
        let creep = creep.map(|creep| format!("{creep} KiB of memory more each second"));
        let grown = growth(warm, now).into_iter().chain(creep);
        grown.map(|grown| format!("{name}: {grown}")).collect()
    }

    /// How much memory this process takes more each second, in KiB.
    fn creep(&self, name: &str, id: u32) -> Option<i64> {
        let all = self.0.lock();
        let (_, life) = all.iter().find(|((service, of), _)| *service == name && *of == id)?;
        creep(life)
    }

    /// The most memory and threads that a process of this service took until it was warm, and the
    /// files that it began with: those under traffic are no measure, as they are connections.
    fn warm(&self, name: &str) -> Option<Use> {
        let all = self.0.lock();
        let lives = all.iter().filter(|((service, _), _)| *service == name);
        let young: Vec<_> = lives.flat_map(|(_, life)| life.iter().take(WARM)).copied().collect();
        let files = young.iter().map(|young| young.files).min()?;
        young.into_iter().reduce(Use::most).map(|most| Use { files, ..most })
    }

    /// What it takes now, and what was the most until it was warm and at any time.
    pub(crate) fn told(&self, name: &str, id: u32) -> String {
        let all = self.0.lock().clone();
        let lives = all.iter().filter(|((service, _), _)| *service == name);
        let most = lives.flat_map(|(_, life)| life).copied().reduce(Use::most);
        match (self.warm(name), Use::of(id), most) {
            (Some(warm), Some(now), Some(most)) => {
                let creep =
                    self.creep(name, id).map(|creep| format!("; {creep} KiB more each second"));
                let creep = creep.unwrap_or_default();
                format!("{name} takes {now}; when it was warm {warm}; at most {most}{creep}")
            }
            _ => format!("{name}: not told"),
        }
    }
}

impl fmt::Display for Use {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { memory_kb, threads, files } = self;
        write!(f, "{} MiB, {threads} threads, {files} files", memory_kb / 1024)
    }
}

impl Use {
    fn of(id: u32) -> Option<Self> {
        let status = fs::read_to_string(format!("/proc/{id}/status")).ok()?;
        let value = |key| {
            let line = status.lines().find_map(|line| line.strip_prefix(key))?;
            line.split_whitespace().next()?.parse().ok()
        };
        let files = fs::read_dir(format!("/proc/{id}/fd")).ok()?.count();
        Some(Self {
            memory_kb: value("RssAnon:")?,
            threads: value("Threads:")?,
            files: u64::try_from(files).ok()?,
        })
    }

    fn most(self, other: Self) -> Self {
        Self {
            memory_kb: self.memory_kb.max(other.memory_kb),
            threads: self.threads.max(other.threads),
            files: self.files.max(other.files),
        }
    }
}

/// What is taken more from one second to the next, in KiB, once the process was warm and over long enough.
fn creep(life: &[Use]) -> Option<i64> {
    let memory: Vec<_> = life.iter().skip(WARM).map(|now| now.memory_kb).collect();
    let mut steps: Vec<_> =
        memory.windows(2).filter_map(|pair| pair[1].checked_signed_diff(pair[0])).collect();
    if steps.len() < TELLING {
        return None;
    }
    steps.sort_unstable();
    let few = steps.len() / 5;
    let usual = &steps[few..steps.len() - few];
    Some(usual.iter().sum::<i64>() / i64::try_from(usual.len()).ok()?)
}

fn growth(warm: Use, now: Use) -> Vec<String> {
    let mut grown = Vec::new();
    for (what, before, after, more) in [
        ("KiB of memory", warm.memory_kb, now.memory_kb, MEMORY_KB),
        ("threads", warm.threads, now.threads, THREADS),
        ("files", warm.files, now.files, FILES),
    ] {
        if after > before + more {
            grown.push(format!("{after} {what}, and {before} when it was warm"));
        }
    }
    grown
}

#[cfg(test)]
mod tests {
    use super::*;

    const YOUNG: Use = Use { memory_kb: 30_000, threads: 8, files: 16 };

    #[test]
    fn a_little_more_is_no_growth_and_much_more_is() {
        let little = Use { memory_kb: YOUNG.memory_kb + MEMORY_KB, threads: 12, files: 40 };
        assert_eq!(growth(YOUNG, little), Vec::<String>::new());
        for much in [
            Use { memory_kb: little.memory_kb + 1, ..YOUNG },
            Use { threads: little.threads + 1, ..YOUNG },
            Use { files: little.files + 1, ..YOUNG },
        ] {
            assert_eq!(growth(YOUNG, much).len(), 1, "{much:?}");
        }
    }

    #[test]
    fn bursts_are_no_creep_and_a_little_each_second_is_also_between_bursts_and_pauses() {
        let of = |seconds, usual| {
            let mut now = YOUNG;
            let later = (0..seconds).map(|second| {
                now.memory_kb += match second % 10 {
                    3 => 1_500,
                    7 => 0,
                    _ => usual,
                };
                now
            });
            creep(&[YOUNG; WARM].into_iter().chain(later).collect::<Vec<_>>())
        };
        assert_eq!(of(60, 4), Some(4));
        assert!(of(60, 4 + 2 * CREEP_KB.unsigned_abs()) > Some(CREEP_KB));
        assert_eq!(of(20, 40), None, "it was there for too short a time");
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn what_this_process_takes_is_told() {
        let before = Use::of(std::process::id()).unwrap();
        let held: Vec<_> = (0..10).map(|_| fs::File::open("/proc/self/status").unwrap()).collect();
        let after = Use::of(std::process::id()).unwrap();
        assert!(before.memory_kb > 0 && before.threads > 0, "{before:?}");
        assert!(after.files >= 10, "{} held: {before:?} {after:?}", held.len());
    }
}
