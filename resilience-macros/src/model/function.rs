use proc_macro2::Span;
use quote::ToTokens;
use syn::{Attribute, Block, ItemFn, Signature, Type, Visibility, spanned::Spanned};

use super::{
    Argument, Entry, Names, Passing, Receiver, Stack, arguments,
    body::{self, Body},
    lending, returns,
};
use crate::{lifetimes::Lifetimes, problems::Problems};

/// How the function is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// `async fn`
    Async,
    /// `fn` that returns `impl Future`
    Opaque,
    /// `fn` that returns a boxed future, also what `async_trait` makes of an `async fn`
    Boxed,
    /// A sync `fn` for a thread pool, which becomes an `async fn`
    Blocking,
    /// A sync `fn` that waits for its async block, what `#[tokio::main]` makes of an `async fn`
    Entry,
}

/// A function that can be composed.
pub(crate) struct Function {
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) vis: Visibility,
    pub(crate) signature: Signature,
    pub(crate) form: Form,
    pub(crate) receiver: Option<Receiver>,
    pub(crate) arguments: Vec<Argument>,
    pub(crate) body: Body,
    /// What the body uses.
    pub(crate) names: Names,
    /// What stands around the body of an entry point.
    pub(crate) entry: Option<Entry>,
    /// The `Result`, as it can be written inside the function.
    pub(crate) output: Type,
    /// A `Result` with the same error and a value that has a name.
    pub(crate) error_of: Type,
    /// Where the error type stands, for errors about it; an alias is shown as it is.
    pub(crate) error_span: Span,
    /// Whether the value may borrow from an exclusive reference, which then cannot be used again.
    pub(crate) lends_out: bool,
    /// Whether the error can be asked for its kinds and sources.
    pub(crate) error_is_open: bool,
}

impl Function {
    /// Checks that the stack can be put around this function.
    pub(crate) fn check(item: ItemFn, stack: &Stack, problems: &mut Problems) -> Option<Self> {
        let ItemFn { attrs, vis, sig: mut signature, block, .. } = item;
        if let Some(constness) = &signature.constness {
            let message = "a `const fn` cannot be protected, for calls are decided at run time: \
                           write `async fn`";
            problems.at(constness, message);
            return None;
        }
        let declared = returns::declared(&signature.output);
        let mut entry = None;
        let (form, output, body) = if signature.asyncness.is_some() {
            (Form::Async, declared, Body::Statements(block.stmts))
        } else if stack.thread_pool().is_some() {
            (Form::Blocking, declared, Body::Statements(block.stmts))
        } else {
            match returns::future(&declared) {
                Some(returns::Future::Opaque(output)) => {
                    (Form::Opaque, output, Body::of_future(*block))
                }
                Some(returns::Future::Boxed(output)) => {
                    (Form::Boxed, output, Body::of_future(*block))
                }
                None if body::ends_boxed(&block) => {
                    (Form::Boxed, returns::projected(&declared), Body::of_future(*block))
                }
                None => {
                    let Some((statements, around)) = Entry::split(&block) else {
                        problems.at_span(signature.fn_token.span, sync_remedy(stack, &block));
                        return None;
                    };
                    entry = Some(around);
                    (Form::Entry, declared, Body::Statements(statements))
                }
            }
        };
        if let (Some(span), true) = (stack.thread_pool(), form != Form::Blocking) {
            problems.at_span(
                signature.asyncness.map_or(span, |asyncness| asyncness.span),
                "a thread pool runs sync functions: remove `async`, or use a semaphore bulkhead",
            );
        }
        if returns::not_a_result(&output) {
            let message = "a protected function returns `Result<T, E>` with \
                           `E: From<resilience::Error>`: refusals come back as `Err`";
            match signature.output {
                syn::ReturnType::Default => problems.at(&signature.ident, message),
                syn::ReturnType::Type(..) => problems.at(&output, message),
            }
            return None;
        }
        let (receiver, arguments) = arguments::take(&mut signature);
        let function = Self {
            attrs,
            vis,
            form,
            receiver,
            arguments,
            names: body.names(),
            body,
            entry,
            lends_out: lending::lends_out(&signature, &output),
            error_is_open: !returns::error(&output)
                .is_some_and(|error| Lifetimes::of(error).is_borrowed_object()),
            error_span: returns::error(&output).map_or_else(|| output.span(), Spanned::span),
            error_of: returns::with_any_value(&output),
            output: returns::nameable(&output),
            signature,
        };
        if let Some(reason) = stack.moves_body(form) {
            function.check_movable(reason, problems);
        }
        Some(function)
    }

    /// A body that outlives the call cannot borrow from the caller.
    fn check_movable(&self, reason: &str, problems: &mut Problems) {
        let mut borrowed = |span: Span, remedy: &str| {
            problems.at_span(span, format!("{reason}, so it cannot borrow this: {remedy}"));
        };
        for input in &self.signature.inputs {
            match input {
                syn::FnArg::Receiver(written) => {
                    if self.receiver.as_ref().is_some_and(|r| r.passing != Passing::Owned) {
                        borrowed(written.self_token.span, "take `self: Arc<Self>`");
                    }
                }
                syn::FnArg::Typed(written) => {
                    if Lifetimes::of(&written.ty).may_borrow() {
                        borrowed(written.ty.span(), "take an owned value or an `Arc`");
                    }
                }
            }
        }
    }
}

fn sync_remedy(stack: &Stack, block: &Block) -> String {
    let attribute = stack.first_attribute();
    let async_forms = "make it `async`, or let it return `impl Future` or a boxed future";
    if block.to_token_stream().to_string().contains("block_on") {
        return format!(
            "`#[{attribute}]` on a sync function: {async_forms}; if an attribute above makes it \
             sync, write `#[{attribute}]` above that one"
        );
    }
    match attribute {
        "bulkhead" => format!(
            "`#[bulkhead]` on a sync function: {async_forms}; or run it on a thread pool with \
             `#[bulkhead(type = \"thread_pool\")]`, which makes it async"
        ),
        "time_limiter" => format!(
            "`#[time_limiter]` cannot interrupt a sync function: {async_forms}; or add \
             `#[bulkhead(type = \"thread_pool\")]`, which makes it async"
        ),
        _ => format!(
            "`#[{attribute}]` on a sync function: {async_forms}; for sync code call the \
             instance's own methods"
        ),
    }
}
