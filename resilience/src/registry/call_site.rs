use std::{
    collections::HashMap,
    fmt::{self, Display},
    sync::{Arc, OnceLock, atomic::Ordering},
    time::Duration,
};

use resilience_settings::{Pattern, Value, canonical};

use super::{Inner, global, scope};
use crate::{
    config::Inline,
    keyed::{self, Member},
    stack::{Handle, Layers, Pass},
};

/// An annotated function: what its attributes say, known to the whole program before it runs.
#[derive(Debug)]
pub struct SiteSpec {
    /// The function's path.
    pub function: &'static str,
    /// The source file.
    pub file: &'static str,
    /// The line of the function.
    pub line: u32,
    /// The package that the function is in.
    pub krate: &'static str,
    /// Its layers, in the order in which they are composed.
    pub layers: &'static [LayerSpec],
    /// How many permissions a call takes of the rate limiter.
    pub permits: u32,
    /// Whether the body runs on after a timeout.
    pub detach: bool,
    /// Whether calls further down learn when this one's time is over.
    pub deadline: bool,
}

/// One attribute of an annotated function.
#[derive(Debug)]
pub struct LayerSpec {
    /// The pattern.
    pub pattern: Pattern,
    /// The instance's name: the one given, or the function's.
    pub name: &'static str,
    /// Whether the name was given.
    pub named: bool,
    /// Whether every call has a key for it.
    pub keyed: bool,
    /// The inline settings.
    pub inline: &'static [(&'static str, InlineValue)],
    /// The configuration that the instance is based on, where given inline.
    pub base_config: Option<&'static str>,
}

/// An inline setting's value in a form that a static can hold.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum InlineValue {
    /// A truth value.
    Bool(bool),
    /// A whole number.
    Integer(u64),
    /// A number with a fraction.
    Float(f64),
    /// A duration in nanoseconds.
    Nanos(u64),
    /// A word of an enumeration.
    Word(&'static str),
    /// A list of error kinds.
    Kinds(&'static [&'static str]),
    /// A list of texts.
    Texts(&'static [&'static str]),
}

impl From<InlineValue> for Value {
    fn from(value: InlineValue) -> Self {
        match value {
            InlineValue::Bool(b) => Value::Bool(b),
            InlineValue::Integer(n) => Value::Integer(n),
            InlineValue::Float(x) => Value::Float(x),
            InlineValue::Nanos(nanos) => Value::Duration(Duration::from_nanos(nanos)),
            InlineValue::Word(word) => Value::Word(word.to_owned()),
            InlineValue::Kinds(kinds) => Value::Kinds(owned(kinds)),
            InlineValue::Texts(texts) => Value::Texts(owned(texts)),
        }
    }
}

fn owned(list: &[&str]) -> Arc<[String]> {
    list.iter().map(|&text| text.to_owned()).collect()
}

impl SiteSpec {
    /// Where the function is, as `file:line`.
    pub(super) fn place(&self) -> String {
        format!("{}:{}", self.file, self.line)
    }
}

impl Display for SiteSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` at {}:{}", self.function, self.file, self.line)
    }
}

impl LayerSpec {
    pub(super) fn is_inline(&self) -> bool {
        !self.inline.is_empty() || self.base_config.is_some()
    }

    pub(super) fn to_inline(&self, site: &SiteSpec) -> Inline {
        Inline {
            place: site.place(),
            values: self.inline.iter().map(|(k, v)| ((*k).to_owned(), (*v).into())).collect(),
            base_config: self.base_config.map(str::to_owned),
        }
    }
}

/// The static behind an annotated function: its spec, and the instances it has found.
#[derive(Debug)]
pub struct CallSite {
    spec: &'static SiteSpec,
    found: OnceLock<Found>,
}

/// The instances of the process registry, as of one of its epochs.
#[derive(Debug)]
struct Found {
    registry: &'static Inner,
    epoch: u64,
    layers: Layers,
}

impl CallSite {
    /// The call site of a function.
    pub const fn new(spec: &'static SiteSpec) -> Self {
        Self { spec, found: OnceLock::new() }
    }

    pub(super) fn spec(&self) -> &'static SiteSpec {
        self.spec
    }

    /// Starts a call on the instances of the present scope, or of the process registry.
    pub fn enter(&'static self) -> Pass<'static> {
        match self.lent() {
            Some(layers) => Pass::lent(layers),
            None => Pass::new(Handle::Shared(self.looked_up())),
        }
    }

    /// Starts a call on the instances for these keys: one for each layer that has one, in their order.
    ///
    /// It runs a user's code, which shows the keys, and takes nothing before that has ended.
    #[track_caller]
    pub fn enter_keyed(&'static self, keys: &[&dyn Display]) -> Pass<'static> {
        let mut layers =
            self.lent().map_or_else(|| Layers::clone(&self.looked_up()), Layers::clone);
        let keyed = self.spec.layers.iter().filter(|layer| layer.keyed);
        for (layer, key) in keyed.zip(keys) {
            match layer.pattern {
                Pattern::Retry => narrow(&mut layers.retry, key),
                Pattern::CircuitBreaker => narrow(&mut layers.circuit_breaker, key),
                Pattern::RateLimiter => narrow(&mut layers.rate_limiter, key),
                Pattern::TimeLimiter => narrow(&mut layers.time_limiter, key),
                Pattern::Bulkhead => narrow(&mut layers.bulkhead, key),
                // The attribute refuses a key there.
                Pattern::ThreadPoolBulkhead => {}
            }
        }
        Pass::new(Handle::Own(layers))
    }

    /// The instances of the process registry, where no scope has another and none was removed since
    /// they were found.
    #[inline]
    fn lent(&'static self) -> Option<&'static Layers> {
        if scope::is_present() {
            return None;
        }
        let found = self.found.get_or_init(|| {
            let registry = &*global::registry().inner;
            // Read before the instances are: a removal in between makes this entry stale.
            let epoch = registry.epoch.load(Ordering::Acquire);
            Found { registry, epoch, layers: registry.find_layers(self.spec) }
        });
        let is_fresh = found.registry.epoch.load(Ordering::Acquire) == found.epoch;
        is_fresh.then_some(&found.layers)
    }

    /// The instances of the present scope, or of a process registry that has lost some.
    #[cold]
    fn looked_up(&'static self) -> Arc<Layers> {
        match scope::current() {
            Some(registry) => registry.inner.layers_of(self),
            None => global::registry().inner.layers_of(self),
        }
    }
}

/// Puts the instance for a key in the place of the one for all of them.
#[track_caller]
fn narrow<T: Member>(instance: &mut Option<T>, key: &dyn Display) {
    if let Some(instance) = instance {
        *instance = keyed::instance_of(instance, key);
    }
}

/// The registration of a call site, collected over the whole program.
#[derive(Debug)]
pub struct RegisteredSite(pub &'static CallSite);

inventory::collect!(RegisteredSite);

/// Every annotated function of the program.
pub(super) fn sites() -> impl Iterator<Item = &'static SiteSpec> {
    inventory::iter::<RegisteredSite>.into_iter().map(|site| site.0.spec())
}

/// What the program's attributes say of one instance.
#[derive(Debug, Clone, Copy)]
pub(super) struct Annotated {
    /// The name as it is written there.
    pub(super) name: &'static str,
    /// The attribute with inline settings, if one has them.
    pub(super) inline: Option<(&'static SiteSpec, &'static LayerSpec)>,
}

/// What the program's attributes say of an instance, if any of them names it.
pub(super) fn annotated(pattern: Pattern, name: &str) -> Option<Annotated> {
    static ALL: OnceLock<HashMap<(Pattern, String), Annotated>> = OnceLock::new();
    let all = ALL.get_or_init(|| {
        let mut all = HashMap::<_, Annotated>::new();
        for site in sites() {
            for layer in site.layers {
                let annotated = all
                    .entry((layer.pattern, canonical(layer.name)))
                    .or_insert(Annotated { name: layer.name, inline: None });
                if layer.is_inline() {
                    annotated.inline.get_or_insert((site, layer));
                }
            }
        }
        all
    });
    all.get(&(pattern, canonical(name))).copied()
}

/// The layers that a registry has looked up for its call sites, by the site's address.
pub(super) type SiteCache = HashMap<usize, (u64, Arc<Layers>)>;

impl Inner {
    /// The instances for a call site, looked up again after an instance was removed.
    fn layers_of(&self, site: &'static CallSite) -> Arc<Layers> {
        let key = std::ptr::from_ref(site).addr();
        let epoch = self.epoch.load(Ordering::Acquire);
        if let Some((seen, layers)) = self.site_cache.read().get(&key)
            && *seen == epoch
        {
            return Arc::clone(layers);
        }
        let layers = Arc::new(self.find_layers(site.spec));
        self.site_cache.write().insert(key, (epoch, Arc::clone(&layers)));
        layers
    }

    fn find_layers(&self, site: &'static SiteSpec) -> Layers {
        let mut layers = Layers {
            permits: site.permits,
            deadline: site.deadline,
            clock: self.clock.clone(),
            ..Layers::default()
        };
        let all = &self.instances;
        for layer in site.layers {
            self.warn_if_undeclared(site, layer);
            let name = layer.name;
            match layer.pattern {
                Pattern::Retry => layers.retry = Some(self.instance(&all.retries, name)),
                Pattern::CircuitBreaker => {
                    layers.circuit_breaker = Some(self.instance(&all.circuit_breakers, name));
                }
                Pattern::RateLimiter => {
                    layers.rate_limiter = Some(self.instance(&all.rate_limiters, name));
                }
                Pattern::TimeLimiter => {
                    layers.time_limiter = Some(self.instance(&all.time_limiters, name));
                }
                Pattern::Bulkhead => layers.bulkhead = Some(self.instance(&all.bulkheads, name)),
                Pattern::ThreadPoolBulkhead => {
                    layers.thread_pool = Some(self.instance(&all.thread_pools, name));
                }
            }
        }
        layers
    }
}
