//! The instances of all keys under one name.

use std::{fmt::Display, sync::Arc};

use super::{
    Counted, Counts as _, KeySettings, KeyedMetrics, Member,
    ledger::{Ledger, Tally, is_listed},
    shard::{Shard, Slot, Swept},
    text::KeyText,
};
#[cfg(feature = "tracing")]
use crate::harmless::harmless;
use crate::{
    clock::saturating_nanos,
    counter::Counter,
    registry::Managed,
    sync::{
        RwLock,
        atomic::{AtomicU64, Ordering},
    },
};

/// How many shards there are at most; a power of two.
const MOST_SHARDS: u64 = 64;

/// How many keys make a further shard worth its while.
const KEYS_PER_SHARD: u64 = 64;

/// How many others a new key looks at.
const FEW: usize = 4;

/// How many it looks at when there is no room for it.
const MANY: usize = 32;

/// In how many shards it looks then, unless one gives room before.
const SHARDS_FOR_ROOM: usize = 8;

/// After a look at all of them in vain, nobody looks for this part of the idle time.
const PAUSE: u64 = 16;

type ShardOf<T> = Shard<T, <T as Managed>::Config, Ledger<<T as Counted>::Counts>>;
type ShardLock<T> = RwLock<ShardOf<T>>;

/// Instances by key, in shards so that callers with different keys do not wait for each other.
///
/// There is one short lock to a shard, and no code of a user's runs under it: keys are shown before it
/// is taken, instances are made before and dropped after. Nothing is ever looked through as a whole.
pub(crate) struct Map<T: Member> {
    shards: Box<[ShardLock<T>]>,
    overflow: RwLock<Overflow<T>>,
    /// Counted apart from the shards, so that there are never more than allowed in all of them.
    live: AtomicU64,
    /// The shard that is looked through next for room.
    next: AtomicU64,
    /// How many slots were looked at since one was found that could go.
    in_vain: AtomicU64,
    /// When it makes sense to look for room again.
    look_again_at: AtomicU64,
    created: Counter,
    evicted: Counter,
    overflowed: Counter,
}

/// The instance of all keys that there is no room for.
struct Overflow<T: Member> {
    config: Arc<T::Config>,
    instance: Option<T>,
}

/// What became of an instance that was made for a key.
enum Placed<T> {
    In(T),
    /// Somebody else's came first.
    Found(T),
    /// The settings have changed since it was made.
    Stale,
    NoRoom,
}

impl<T: Member> Map<T> {
    pub(super) fn new(config: Arc<T::Config>) -> Self {
        let shards = max_keys::<T>(&config).div_ceil(KEYS_PER_SHARD).next_power_of_two();
        let shard = |_| RwLock::new(Shard::new(Arc::clone(&config), Ledger::new()));
        Self {
            shards: (0..shards.min(MOST_SHARDS)).map(shard).collect(),
            overflow: RwLock::new(Overflow { config, instance: None }),
            live: AtomicU64::new(0),
            next: AtomicU64::new(0),
            in_vain: AtomicU64::new(0),
            look_again_at: AtomicU64::new(0),
            created: Counter::default(),
            evicted: Counter::default(),
            overflowed: Counter::default(),
        }
    }

    pub(super) fn metrics(&self) -> KeyedMetrics {
        KeyedMetrics {
            live: self.live.load(Ordering::Acquire),
            created: self.created.get(),
            evicted: self.evicted.get(),
            overflowed: self.overflowed.get(),
        }
    }

    /// Every instance that has a key of its own, sorted by it.
    pub(super) fn all(&self) -> Vec<T> {
        let mut all = Vec::new();
        for shard in &self.shards {
            all.extend(shard.read().slots().iter().map(|slot| slot.instance.clone()));
        }
        all.sort_by(|a: &T, b: &T| a.own_key().cmp(&b.own_key()));
        all
    }

    /// What the instances of all keys have counted, those included that are gone.
    ///
    /// For each shard it is what was so at one moment: no instance is counted twice because it goes
    /// meanwhile, nor left out. The handles that are copied for that keep the instances of one shard at
    /// a time from going, while their numbers are read.
    pub(super) fn tally(&self) -> Tally<T, T::Counts> {
        let mut tally = Tally { others: T::Counts::NONE, apart: Vec::new() };
        for shard in &self.shards {
            let shard = shard.read();
            let ledger = shard.ledger.clone();
            let of_slot = |slot: &Slot<T>| (Arc::clone(&slot.key), slot.instance.clone());
            let live: Vec<_> = shard.slots().iter().map(of_slot).collect();
            drop(shard);
            ledger.tally(live, T::counts, &mut tally);
        }
        let overflow = self.overflow.read().instance.clone();
        if let Some(instance) = overflow {
            tally.others.add(&instance.counts());
        }
        tally.apart.sort_by(|a, b| a.key.cmp(&b.key));
        tally
    }

    /// The instance for a key, or the one for those beyond the cap.
    ///
    /// # Panics
    ///
    /// When the key's `Display` panics or fails.
    #[track_caller]
    pub(super) fn get_or_create(&self, parent: &T, key: &dyn Display) -> T {
        let Ok(text) = KeyText::of(key) else {
            panic!(
                "the `Display` of a key for {} '{}' has failed: an instance needs the key's whole text",
                T::PATTERN,
                parent.name()
            );
        };
        let hash = text.hash();
        let now = parent.clock().now();
        let shard = self.shard(hash);
        let find = || {
            let shard = shard.read();
            let found = shard.find(hash, text.as_bytes()).map(|slot| slot.hand_out(now));
            found.ok_or_else(|| Arc::clone(&shard.config))
        };
        let mut config = match find() {
            Ok(found) => return found,
            Err(config) => config,
        };
        if self.is_full(&config) && !self.make_room(now) {
            // The last place may have been taken for this very key, since it was not found.
            return find().unwrap_or_else(|_| self.overflow(parent));
        }
        let key = text.to_shared();
        loop {
            let instance = parent.member(Arc::clone(&config), Some(Arc::clone(&key)));
            let slot =
                Slot { hash, key: Arc::clone(&key), instance, last_used: AtomicU64::new(now) };
            match self.place(shard, slot, &config, now) {
                Placed::In(instance) | Placed::Found(instance) => return instance,
                Placed::NoRoom => return self.overflow(parent),
                Placed::Stale => config = Arc::clone(&shard.read().config),
            }
        }
    }

    /// Puts in an instance that was made by `config`, unless there is a reason not to.
    ///
    /// Whoever changes the settings of a shard sees what is in it at that moment: an instance with
    /// other settings cannot come in later.
    fn place(
        &self,
        shard: &ShardLock<T>,
        slot: Slot<T>,
        config: &Arc<T::Config>,
        now: u64,
    ) -> Placed<T> {
        let mut guard = shard.write();
        if let Some(first) = guard.find(slot.hash, slot.key.as_bytes()) {
            return Placed::Found(drop_after(slot, first.hand_out(now), guard));
        }
        if !Arc::ptr_eq(config, &guard.config) {
            return drop_after(slot, Placed::Stale, guard);
        }
        if !self.reserve(max_keys::<T>(config)) {
            return drop_after(slot, Placed::NoRoom, guard);
        }
        let instance = slot.instance.clone();
        if is_listed(metric_keys::<T>(config), &slot.key) {
            guard.ledger.open(&slot.key, T::Counts::NONE);
        }
        guard.insert(slot);
        self.created.increment();
        let gone = self.sweep(&mut guard, FEW, now).gone;
        drop(guard);
        drop(gone);
        Placed::In(instance)
    }

    fn shard(&self, hash: u64) -> &ShardLock<T> {
        // The table in the shard goes by the lowest and the highest bits.
        self.nth_shard(hash >> 32)
    }

    fn nth_shard(&self, n: u64) -> &ShardLock<T> {
        let n = n & (self.shards.len() as u64 - 1);
        &self.shards[usize::try_from(n).unwrap_or(0)]
    }

    fn is_full(&self, config: &T::Config) -> bool {
        self.live.load(Ordering::Acquire) >= max_keys::<T>(config)
    }

    /// Counts one more in, unless that would be too many.
    fn reserve(&self, most: u64) -> bool {
        let more = |live| (live < most).then_some(live + 1);
        self.live.fetch_update(Ordering::AcqRel, Ordering::Acquire, more).is_ok()
    }

    /// Looks for some that may go; `false` when there are none, or it was tried not long ago.
    fn make_room(&self, now: u64) -> bool {
        (0..self.shards.len().min(SHARDS_FOR_ROOM)).any(|_| self.make_room_in_next_shard(now))
    }

    fn make_room_in_next_shard(&self, now: u64) -> bool {
        if now < self.look_again_at.load(Ordering::Relaxed) {
            return false;
        }
        let next = self.next.fetch_add(1, Ordering::Relaxed);
        let mut shard = self.nth_shard(next).write();
        let idle = idle_timeout::<T>(&shard.config);
        let swept = self.sweep(&mut shard, MANY, now);
        drop(shard);
        if !swept.gone.is_empty() {
            return true;
        }
        let looked_at = swept.looked_at as u64;
        let in_vain = self.in_vain.fetch_add(looked_at, Ordering::Relaxed) + looked_at;
        if in_vain >= self.live.load(Ordering::Relaxed) {
            self.in_vain.store(0, Ordering::Relaxed);
            self.look_again_at.store(now.saturating_add(idle / PAUSE), Ordering::Relaxed);
        }
        false
    }

    /// Takes out what may go among the next slots of a shard. What went is to be dropped after the
    /// lock.
    fn sweep(&self, shard: &mut ShardOf<T>, most: usize, now: u64) -> Swept<T> {
        let config = Arc::clone(&shard.config);
        let idle = idle_timeout::<T>(&config);
        let swept = shard.sweep(most, |slot| {
            let last_used = slot.last_used.load(Ordering::Relaxed);
            // A new handle comes from another one or from this shard, whose lock is held.
            now.saturating_sub(last_used) > idle
                && slot.instance.handles() == 1
                // One with settings of its own was given them by hand.
                && Arc::ptr_eq(&slot.instance.config(), &config)
                && slot.instance.is_at_rest(now)
        });
        for slot in &swept.gone {
            // Nobody has a handle any more: it counts nothing further.
            shard.ledger.keep(&slot.key, &slot.instance.counts());
        }
        if !swept.gone.is_empty() {
            let gone = swept.gone.len() as u64;
            self.live.fetch_sub(gone, Ordering::AcqRel);
            self.evicted.add(gone);
            self.in_vain.store(0, Ordering::Relaxed);
        }
        swept
    }

    fn overflow(&self, parent: &T) -> T {
        self.overflowed.increment();
        let mut config = {
            let overflow = self.overflow.read();
            if let Some(instance) = &overflow.instance {
                return instance.clone();
            }
            Arc::clone(&overflow.config)
        };
        loop {
            let fresh = parent.member(Arc::clone(&config), None);
            let mut overflow = self.overflow.write();
            if let Some(first) = &overflow.instance {
                return drop_after(fresh, first.clone(), overflow);
            }
            if Arc::ptr_eq(&config, &overflow.config) {
                overflow.instance = Some(fresh.clone());
                drop(overflow);
                #[cfg(feature = "tracing")]
                tell_of_overflow(parent, &config);
                return fresh;
            }
            config = Arc::clone(&overflow.config);
            drop_after(fresh, (), overflow);
        }
    }

    /// Brings the parent's settings to every instance. Where two do so at once, the one that comes
    /// last finds out that its settings are not the parent's, and brings those.
    pub(super) fn follow(&self, parent: &T) {
        loop {
            let config = parent.config();
            for shard in &self.shards {
                let mut shard = shard.write();
                let before = std::mem::replace(&mut shard.config, Arc::clone(&config));
                shard.follow_listed(metric_keys::<T>(&config));
                let instances: Vec<T> =
                    shard.slots().iter().map(|slot| slot.instance.clone()).collect();
                drop_after(before, (), shard);
                for instance in instances {
                    instance.adopt(Arc::clone(&config));
                }
            }
            let mut overflow = self.overflow.write();
            let before = std::mem::replace(&mut overflow.config, Arc::clone(&config));
            let instance = overflow.instance.clone();
            drop_after(before, (), overflow);
            if let Some(instance) = instance {
                instance.adopt(Arc::clone(&config));
            }
            // There may be more room, or a shorter idle time.
            self.look_again_at.store(0, Ordering::Relaxed);
            if Arc::ptr_eq(&config, &parent.config()) {
                return;
            }
        }
    }

    /// Lets go of every instance: the name was removed.
    pub(super) fn clear(&self) {
        for shard in &self.shards {
            let mut guard = shard.write();
            let gone = guard.drain();
            self.live.fetch_sub(gone.len() as u64, Ordering::AcqRel);
            drop_after(gone, (), guard);
        }
        let mut overflow = self.overflow.write();
        let gone = overflow.instance.take();
        drop_after(gone, (), overflow);
    }
}

impl<T: Member> ShardOf<T> {
    /// Counts those keys apart that are listed by now.
    fn follow_listed(&mut self, listed: &[String]) {
        self.ledger.close_unlisted(listed);
        let mut opened = Vec::new();
        for slot in self.slots().iter().filter(|slot| is_listed(listed, &slot.key)) {
            opened.push((Arc::clone(&slot.key), slot.instance.counts()));
        }
        for (key, before) in opened {
            self.ledger.open(&key, before);
        }
    }
}

/// Drops a value once a lock is gone: what instances own may run code of a user's when it goes.
fn drop_after<V, R, L>(value: V, result: R, lock: L) -> R {
    drop(lock);
    drop(value);
    result
}

/// Warns once, when the instance is made that keys share from then on.
#[cfg(feature = "tracing")]
fn tell_of_overflow<T: Member>(parent: &T, config: &T::Config) {
    harmless(|| {
        tracing::warn!(
            target: "resilience",
            "{} '{}' has as many keys as `max_keys` = {} allows, and none was found that is idle: \
             further keys share one instance; raise `max_keys`, lower `key_idle_timeout`, or use fewer \
             keys",
            T::PATTERN,
            parent.name(),
            max_keys::<T>(config),
        );
    });
}

fn max_keys<T: Member>(config: &T::Config) -> u64 {
    T::key_settings(config).max_keys.into()
}

fn metric_keys<T: Member>(config: &T::Config) -> &[String] {
    &T::key_settings(config).metric_keys
}

fn idle_timeout<T: Member>(config: &T::Config) -> u64 {
    let KeySettings { key_idle_timeout, .. } = T::key_settings(config);
    saturating_nanos(*key_idle_timeout)
}
