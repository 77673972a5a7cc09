use proc_macro2::Span;
use quote::ToTokens;
use resilience_settings::{Pattern, canonical, check_name, nearest};
use syn::{Expr, ExprField, ExprLit, ExprPath, Ident, Lit, LitStr, Member, Path};

use super::{Inline, body::is_self};
use crate::{
    parse::{Arg, ArgValue, Args, Written},
    problems::Problems,
};

/// One attribute, checked.
pub(crate) struct Layer {
    pub(crate) pattern: Pattern,
    pub(crate) span: Span,
    pub(crate) name: Option<LitStr>,
    /// What tells the instance apart from others of the name, from call to call.
    pub(crate) key: Option<Expr>,
    pub(crate) base_config: Option<LitStr>,
    pub(crate) checked_by: CheckedBy,
    pub(crate) inline: Vec<Inline>,
    /// Methods of the runtime's rules, with the functions they are given.
    pub(crate) rules: Vec<(&'static str, ExprPath)>,
    pub(crate) fallbacks: Vec<ExprPath>,
    /// How many permits of a rate limiter a call takes.
    pub(crate) permits: u32,
    /// Whether the body outlives a timeout, with the place that says so.
    pub(crate) detach: Option<Span>,
    /// Whether calls further down learn when this one's time is over.
    pub(crate) deadline: bool,
    /// Whether each call has an idempotency key of its own.
    pub(crate) idempotency_key: bool,
    /// Whether a retry may find an argument as a failed attempt left it.
    pub(crate) mut_ok: bool,
    pub(crate) krate: Option<Path>,
}

/// What the name of an instance is checked against.
pub(crate) enum CheckedBy {
    /// The files that Cargo.toml names, if it does.
    Manifest,
    File(LitStr),
    Nothing,
}

/// What an argument that is no setting means.
#[derive(Clone, Copy)]
enum Special {
    Name,
    Key,
    BaseConfig,
    Config,
    Crate,
    Fallback,
    Permits,
    Detach,
    Deadline,
    IdempotencyKey,
    MutOk,
    Type,
    Rule(&'static str),
}

const COMMON: &[(&str, Special)] = &[
    ("name", Special::Name),
    ("key", Special::Key),
    ("base_config", Special::BaseConfig),
    ("config", Special::Config),
    ("crate", Special::Crate),
    ("fallback", Special::Fallback),
];

fn own(pattern: Pattern) -> &'static [(&'static str, Special)] {
    match pattern {
        Pattern::Retry => &[
            ("retry_if", Special::Rule("retry_if")),
            ("ignore", Special::Rule("retry_ignore")),
            ("retry_result", Special::Rule("retry_result")),
            ("retry_after", Special::Rule("retry_after")),
            ("deadline", Special::Deadline),
            ("idempotency_key", Special::IdempotencyKey),
            ("mut_ok", Special::MutOk),
        ],
        Pattern::CircuitBreaker => &[
            ("record", Special::Rule("record")),
            ("ignore", Special::Rule("ignore")),
            ("record_result", Special::Rule("record_result")),
            ("open_for", Special::Rule("open_for")),
        ],
        Pattern::RateLimiter => &[("permits", Special::Permits)],
        Pattern::TimeLimiter => &[("detach", Special::Detach), ("deadline", Special::Deadline)],
        Pattern::Bulkhead | Pattern::ThreadPoolBulkhead => &[("type", Special::Type)],
    }
}

fn special(pattern: Pattern, key: &Ident) -> Option<Special> {
    let mut all = COMMON.iter().chain(own(pattern));
    all.find(|(name, _)| key == name).map(|(_, special)| *special)
}

impl Layer {
    /// Checks one attribute; what is wrong goes to `problems`, the rest is kept.
    pub(crate) fn check(written: Written, problems: &mut Problems) -> Self {
        let Args { named: args, bare } = Args::read(written.args, problems);
        let mut layer = Self {
            pattern: written.pattern,
            span: written.span,
            name: None,
            key: None,
            base_config: None,
            checked_by: CheckedBy::Manifest,
            inline: Vec::new(),
            rules: Vec::new(),
            fallbacks: Vec::new(),
            permits: 1,
            detach: None,
            deadline: false,
            idempotency_key: false,
            mut_ok: false,
            krate: None,
        };
        for text in &bare {
            let text = text.to_token_stream();
            let remedy = if args.iter().any(|arg| arg.key == "name") {
                format!("`name` is written too: remove {text}")
            } else {
                format!("write `name = {text}`")
            };
            problems.at(&text, format!("expected `key = value`; {remedy}"));
        }
        // Which keys there are depends on the kind of bulkhead.
        for arg in args.iter().filter(|arg| arg.key == "type") {
            if let Some(Special::Type) = special(layer.pattern, &arg.key) {
                problems.take(layer.bulkhead_type(arg));
            }
        }
        let mut seen: Vec<&Ident> = Vec::new();
        for arg in &args {
            if seen.contains(&&arg.key) {
                problems.at(&arg.key, format!("`{}` is written twice: keep one of them", arg.key));
                continue;
            }
            seen.push(&arg.key);
            problems.take(match special(layer.pattern, &arg.key) {
                Some(special) => layer.special(special, arg),
                None => layer.setting(arg),
            });
        }
        layer
    }

    /// Whether it has settings of its own: with these it declares its instance itself.
    #[cfg(feature = "checked-names")]
    pub(crate) fn is_inline(&self) -> bool {
        !self.inline.is_empty() || self.base_config.is_some()
    }

    fn special(&mut self, special: Special, arg: &Arg) -> syn::Result<()> {
        match special {
            Special::Name => self.name = Some(instance_name(arg)?),
            Special::Key => self.key = Some(self.key_expression(arg)?),
            Special::BaseConfig => self.base_config = Some(instance_name(arg)?),
            Special::Config => self.checked_by = checked_by(arg)?,
            Special::Crate => self.krate = Some(crate_path(arg)?),
            Special::Fallback => self.fallbacks = paths(arg)?,
            Special::Permits => self.permits = permits(arg)?,
            Special::Detach => self.detach = Some(flag(arg, "")?),
            Special::Deadline => {
                flag(arg, self.time_of_deadline())?;
                self.deadline = true;
            }
            Special::IdempotencyKey => {
                flag(arg, "; the body reads the key with `resilience::idempotency_key()`")?;
                self.idempotency_key = true;
            }
            Special::MutOk => {
                flag(arg, "")?;
                self.mut_ok = true;
            }
            Special::Rule(method) => self.rules.push((method, path(arg)?)),
            // Read before everything else.
            Special::Type => {}
        }
        Ok(())
    }

    /// Where the time is given that `deadline` passes on.
    fn time_of_deadline(&self) -> &'static str {
        match self.pattern {
            Pattern::Retry => ", and the time as `total_timeout = …`",
            _ => ", and the time as `timeout_duration = …`",
        }
    }

    fn key_expression(&self, arg: &Arg) -> syn::Result<Expr> {
        if self.pattern == Pattern::ThreadPoolBulkhead {
            let message = "a thread pool has no `key`: each key would start threads of its own; leave \
                           it out, or limit the keys by another attribute on this function";
            return Err(syn::Error::new_spanned(&arg.key, message));
        }
        value(arg).cloned()
    }

    fn bulkhead_type(&mut self, arg: &Arg) -> syn::Result<()> {
        let text = string(arg)?;
        self.pattern = match text.value().as_str() {
            "semaphore" => Pattern::Bulkhead,
            "thread_pool" => Pattern::ThreadPoolBulkhead,
            other => {
                // What is meant decides what else is wrong.
                if canonical(other) == "threadpool" {
                    self.pattern = Pattern::ThreadPoolBulkhead;
                }
                let message = "`type` is \"semaphore\" or \"thread_pool\"";
                return Err(syn::Error::new_spanned(text, message));
            }
        };
        Ok(())
    }

    fn setting(&mut self, arg: &Arg) -> syn::Result<()> {
        let written = arg.key.to_string();
        let Some((_, key)) = self.pattern.key(&written) else {
            return Err(self.unknown(arg));
        };
        if key.name != written {
            let message = format!("this key is written `{}`", key.name);
            return Err(syn::Error::new_spanned(&arg.key, message));
        }
        self.inline.push(Inline::check(key, value(arg)?)?);
        Ok(())
    }

    fn unknown(&self, arg: &Arg) -> syn::Error {
        let written = arg.key.to_string();
        let attribute = shown(self.pattern);
        let specials = COMMON.iter().chain(own(self.pattern)).map(|(name, _)| *name);
        let keys: Vec<&str> =
            specials.chain(self.pattern.keys().iter().map(|key| key.name)).collect();
        let hint = if let Some(near) = nearest(&written, keys.iter().copied()) {
            format!("did you mean `{near}`?")
        } else if let Some(longer) = listed(longer(&written, &keys), "or") {
            format!("did you mean {longer}?")
        } else if let Some(owners) = listed(self.elsewhere(&written), "and") {
            format!("it belongs to {owners}")
        } else if let Some(shorter) = shorter(&written, &keys) {
            format!("did you mean `{shorter}`?")
        } else if let ArgValue::Flag = arg.value {
            format!("write `name = \"{written}\"` if it is the instance")
        } else {
            format!("it has {}", listed(keys, "and").unwrap_or_default())
        };
        syn::Error::new_spanned(&arg.key, format!("`{attribute}` has no key `{written}`; {hint}"))
    }

    /// The other attributes that have a key.
    fn elsewhere(&self, written: &str) -> Vec<&'static str> {
        let others = Pattern::ALL.iter().copied().filter(|other| *other != self.pattern);
        let owners = others.filter(|other| {
            let settings = other.keys().iter().map(|key| key.name);
            settings.chain(own(*other).iter().map(|(name, _)| *name)).any(|name| name == written)
        });
        owners.map(shown).collect()
    }
}

/// The keys that say the same in more words: `timeout_duration` for `timeout`.
fn longer<'a>(written: &str, keys: &[&'a str]) -> Vec<&'a str> {
    let written = canonical(written);
    let starts: Vec<&str> =
        keys.iter().copied().filter(|key| canonical(key).starts_with(&written)).collect();
    if !starts.is_empty() {
        return starts;
    }
    keys.iter().copied().filter(|key| canonical(key).contains(&written)).collect()
}

/// The key that says the same in fewer letters: `key` for `keyed`.
fn shorter<'a>(written: &str, keys: &[&'a str]) -> Option<&'a str> {
    let written = canonical(written);
    let starts = keys.iter().copied().filter(|key| written.starts_with(&canonical(key)));
    starts.max_by_key(|key| key.len())
}

/// `` `a`, `b` or `c` ``
fn listed(keys: Vec<&str>, conjunction: &str) -> Option<String> {
    let mut keys: Vec<String> = keys.into_iter().map(|key| format!("`{key}`")).collect();
    let last = keys.pop()?;
    if keys.is_empty() {
        return Some(last);
    }
    Some(format!("{} {conjunction} {last}", keys.join(", ")))
}

/// The attribute that stands for a pattern.
fn shown(pattern: Pattern) -> &'static str {
    match pattern {
        Pattern::ThreadPoolBulkhead => "bulkhead(type = \"thread_pool\")",
        other => other.attribute(),
    }
}

/// Where a key stands that has no value; `besides` says where a value belongs.
fn flag(arg: &Arg, besides: &str) -> syn::Result<Span> {
    match &arg.value {
        ArgValue::Flag => Ok(arg.key.span()),
        ArgValue::Expr(expr) => {
            let message = format!("`{0}` takes no value: write `{0}` alone{besides}", arg.key);
            Err(syn::Error::new_spanned(expr, message))
        }
    }
}

fn value(arg: &Arg) -> syn::Result<&Expr> {
    match &arg.value {
        ArgValue::Expr(expr) => Ok(expr),
        ArgValue::Flag => {
            let message = format!("`{0}` needs a value: `{0} = …`", arg.key);
            Err(syn::Error::new_spanned(&arg.key, message))
        }
    }
}

fn string(arg: &Arg) -> syn::Result<LitStr> {
    match value(arg)? {
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Ok(text.clone()),
        other => {
            let message = format!("`{}` is a string literal", arg.key);
            Err(syn::Error::new_spanned(other, message))
        }
    }
}

fn instance_name(arg: &Arg) -> syn::Result<LitStr> {
    let text = string(arg)?;
    match check_name(&text.value()) {
        Ok(()) => Ok(text),
        Err(error) => {
            let remedy = if text.value().is_empty() && arg.key == "name" {
                "; leave `name` out to use the function's name"
            } else {
                ""
            };
            Err(syn::Error::new_spanned(text, format!("{error}{remedy}")))
        }
    }
}

fn checked_by(arg: &Arg) -> syn::Result<CheckedBy> {
    match value(arg)? {
        Expr::Lit(ExprLit { lit: Lit::Bool(checked), .. }) if !checked.value => {
            Ok(CheckedBy::Nothing)
        }
        Expr::Lit(ExprLit { lit: Lit::Str(file), .. }) if !file.value().is_empty() => {
            Ok(CheckedBy::File(file.clone()))
        }
        other => {
            let message = "`config` is the path of a file, from the folder of Cargo.toml on: write \
                           `config = \"resilience.yaml\"`, or `config = false` where nothing is to \
                           be checked";
            Err(syn::Error::new_spanned(other, message))
        }
    }
}

fn path(arg: &Arg) -> syn::Result<ExprPath> {
    as_path(value(arg)?, &arg.key)
}

fn crate_path(arg: &Arg) -> syn::Result<Path> {
    match value(arg)? {
        Expr::Path(path) if path.qself.is_none() => Ok(path.path.clone()),
        other => Err(syn::Error::new_spanned(other, "`crate` is the path of a crate or module")),
    }
}

fn as_path(expr: &Expr, key: &Ident) -> syn::Result<ExprPath> {
    match expr {
        Expr::Path(path) => Ok(path.clone()),
        Expr::Closure(closure) => {
            let message = format!("`{key}` is the path of a function; give this one a name");
            Err(syn::Error::new_spanned(closure, message))
        }
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) if text.parse::<ExprPath>().is_ok() => {
            let path = text.value();
            let message = format!("`{key}` is the path of a function: write `{key} = {path}`");
            Err(syn::Error::new_spanned(text, message))
        }
        other => {
            let message = match path_within(other) {
                Some(path) => format!("`{key}` is the path of a function: write `{key} = {path}`"),
                None => format!("`{key}` is the path of a function"),
            };
            Err(syn::Error::new_spanned(other, message))
        }
    }
}

/// The path that is meant by `cached()`, and by `self.cached` or `self.cached()`.
fn path_within(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Call(call) => match &*call.func {
            Expr::Path(path) => Some(path.to_token_stream().to_string().replace(' ', "")),
            _ => None,
        },
        Expr::MethodCall(call) if is_self(&call.receiver) => Some(format!("Self::{}", call.method)),
        Expr::Field(ExprField { base, member: Member::Named(name), .. }) if is_self(base) => {
            Some(format!("Self::{name}"))
        }
        _ => None,
    }
}

fn paths(arg: &Arg) -> syn::Result<Vec<ExprPath>> {
    match value(arg)? {
        Expr::Array(list) if list.elems.is_empty() => {
            Err(syn::Error::new_spanned(list, "name at least one fallback"))
        }
        Expr::Array(list) => list.elems.iter().map(|elem| as_path(elem, &arg.key)).collect(),
        single => as_path(single, &arg.key).map(|path| vec![path]),
    }
}

fn permits(arg: &Arg) -> syn::Result<u32> {
    let expr = value(arg)?;
    let number = match expr {
        Expr::Lit(ExprLit { lit: Lit::Int(number), .. }) => number.base10_parse::<u32>().ok(),
        _ => None,
    };
    number.filter(|n| *n > 0).ok_or_else(|| {
        syn::Error::new_spanned(expr, "`permits` is a whole number from 1 to 4294967295")
    })
}
