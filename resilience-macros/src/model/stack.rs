use proc_macro2::Span;
use quote::ToTokens;
use resilience_settings::Pattern;
use syn::{Expr, ExprPath, Path, Signature};

use super::{Form, Layer};
use crate::{parse::default_crate, problems::Problems};

/// The layers of one function, outermost first.
pub(crate) struct Stack {
    pub(crate) layers: Vec<Layer>,
    pub(crate) krate: Path,
    /// The paths of the attributes that were taken in, as written.
    pub(crate) siblings: Vec<Path>,
    /// The files that decide whether the names are right.
    pub(crate) files: Vec<String>,
    first: &'static str,
}

impl Stack {
    /// Puts the layers in order. `layers` come as written: the one that expands first.
    pub(crate) fn check(
        mut layers: Vec<Layer>,
        siblings: Vec<Path>,
        signature: &Signature,
        problems: &mut Problems,
    ) -> Self {
        let function = &signature.ident;
        let first = layers.first().map_or("retry", |layer| layer.pattern.attribute());
        let krate = layers.iter().find_map(|l| l.krate.clone()).unwrap_or_else(default_crate);
        let mut seen = Vec::new();
        layers.retain(|layer| {
            let attribute = layer.pattern.attribute();
            let twice = seen.contains(&attribute);
            if twice {
                let message = format!(
                    "`#[{attribute}]` stands twice on `{function}`; to nest two of them, put one \
                     on a function that this one calls"
                );
                problems.at_span(layer.span, message);
            }
            seen.push(attribute);
            !twice
        });
        // `ALL` is the order of composition.
        layers.sort_by_key(|layer| Pattern::ALL.iter().position(|p| *p == layer.pattern));
        for fallback in layers.iter().flat_map(|layer| &layer.fallbacks) {
            if names_itself(fallback, signature) {
                let message = format!(
                    "`{function}` is its own fallback: name the function that answers instead"
                );
                problems.at(fallback, message);
            }
        }
        let stack = Self { layers, krate, siblings, files: Vec::new(), first };
        if let (Some(detach), Some(_)) = (stack.detach(), stack.thread_pool()) {
            problems.at_span(
                detach,
                "a body on a thread pool always runs on after a timeout: leave `detach` out",
            );
        }
        stack
    }

    /// Whether there is a retry, so that the body may run more than once.
    pub(crate) fn retries(&self) -> bool {
        self.layer(Pattern::Retry).is_some()
    }

    /// Whether attempts may find what an earlier one has changed.
    pub(crate) fn mut_ok(&self) -> bool {
        self.layer(Pattern::Retry).is_some_and(|layer| layer.mut_ok)
    }

    /// Whether there is a time limiter.
    pub(crate) fn limits_time(&self) -> bool {
        self.layer(Pattern::TimeLimiter).is_some()
    }

    /// Where the body is sent to a thread pool, if it is.
    pub(crate) fn thread_pool(&self) -> Option<Span> {
        self.layer(Pattern::ThreadPoolBulkhead).map(|layer| layer.span)
    }

    /// Where the body is detached, if it is.
    pub(crate) fn detach(&self) -> Option<Span> {
        self.layer(Pattern::TimeLimiter).and_then(|layer| layer.detach)
    }

    /// Whether calls further down learn when this one's time is over.
    pub(crate) fn deadline(&self) -> bool {
        self.layers.iter().any(|layer| layer.deadline)
    }

    /// Whether each call has an idempotency key of its own.
    pub(crate) fn idempotency_key(&self) -> bool {
        self.layer(Pattern::Retry).is_some_and(|layer| layer.idempotency_key)
    }

    /// Why the body must own everything that it uses, if it must.
    pub(crate) fn moves_body(&self, form: Form) -> Option<&'static str> {
        if form == Form::Blocking {
            Some("the body runs on a thread of the pool")
        } else if self.detach().is_some() {
            Some("a detached body outlives the call")
        } else {
            None
        }
    }

    /// The fallbacks that are wired in: those of the outermost attribute that has any.
    pub(crate) fn fallbacks(&self) -> &[ExprPath] {
        self.with_fallbacks().next().map_or(&[], |layer| &layer.fallbacks)
    }

    /// Each fallback that is not wired in, with the warning about it.
    pub(crate) fn unused_fallbacks(&self) -> Vec<(&ExprPath, String)> {
        let mut carriers = self.with_fallbacks();
        let Some(outermost) = carriers.next() else { return Vec::new() };
        let wired = outermost.fallbacks.iter().map(shown).collect::<Vec<_>>().join(", ");
        let mut warnings = Vec::new();
        for layer in carriers {
            for path in &layer.fallbacks {
                let (path_shown, winner) = (shown(path), outermost.pattern.attribute());
                let warning = format!(
                    "the fallback `{path_shown}` of `{}` is never called: one fallback runs outside \
                     of the whole stack, and `{wired}` of `{winner}` is further out; remove it, or \
                     write `fallback = [{path_shown}, {wired}]` in `#[{winner}]`",
                    layer.pattern.attribute(),
                );
                warnings.push((path, warning));
            }
        }
        warnings
    }

    /// The keys of the layers that have one, in the order of the layers.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &Expr> {
        self.layers.iter().filter_map(|layer| layer.key.as_ref())
    }

    /// How many permits of the rate limiter a call takes.
    pub(crate) fn permits(&self) -> u32 {
        self.layer(Pattern::RateLimiter).map_or(1, |layer| layer.permits)
    }

    /// The attribute that expands.
    pub(crate) fn first_attribute(&self) -> &'static str {
        self.first
    }

    fn layer(&self, pattern: Pattern) -> Option<&Layer> {
        self.layers.iter().find(|layer| layer.pattern == pattern)
    }

    fn with_fallbacks(&self) -> impl Iterator<Item = &Layer> {
        self.layers.iter().filter(|layer| !layer.fallbacks.is_empty())
    }
}

/// `Self::f` names the function itself, and so does `f` unless it is a method: any other path may
/// name another `f`.
fn names_itself(path: &ExprPath, signature: &Signature) -> bool {
    let segments = &path.path.segments;
    let last = segments.last().is_some_and(|last| last.ident == signature.ident);
    let own = match segments.len() {
        1 => signature.receiver().is_none(),
        2 => segments[0].ident == "Self",
        _ => false,
    };
    path.qself.is_none() && path.path.leading_colon.is_none() && last && own
}

fn shown(path: &ExprPath) -> String {
    path.to_token_stream().to_string().replace(' ', "")
}
