//! What is allowed, and most likely a mistake. A macro has no warnings of its own on a stable compiler,
//! but the use of something deprecated is one.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote};
use syn::{Attribute, FnArg, ReceiverKind, Token, Type, spanned::Spanned};

use super::{Plan, spell::spell};
use crate::model::{Function, blocking_calls};

/// All warnings about the function.
pub(super) fn warnings(plan: &Plan<'_>, function: &Function) -> TokenStream {
    let unused = unused_fallbacks(plan);
    let exclusive = exclusive_arguments(plan, function);
    let blocking = blocking_body(plan, function);
    quote!(#unused #exclusive #blocking)
}

fn unused_fallbacks(plan: &Plan<'_>) -> TokenStream {
    let unused = plan.stack.unused_fallbacks();
    let warnings = unused
        .iter()
        .map(|(path, text)| warning("__RESILIENCE_UNUSED_FALLBACK", path.span(), text, &[]));
    warnings.collect()
}

/// What is borrowed exclusively is changed in place, by an attempt that fails too: if the body uses it.
fn exclusive_arguments(plan: &Plan<'_>, function: &Function) -> TokenStream {
    if !plan.stack.retries() || plan.stack.mut_ok() {
        return TokenStream::new();
    }
    let mut arguments = function.arguments.iter();
    let inputs = function.signature.inputs.iter().filter_map(|input| {
        let (exclusive, name, cfgs, instead) = match input {
            FnArg::Receiver(receiver) => {
                let exclusive = match &receiver.kind {
                    ReceiverKind::Reference(_, _, exclusive) => *exclusive,
                    ReceiverKind::Typed(_, ty) => exclusive(ty),
                    _ => None,
                };
                let exclusive = exclusive.filter(|_| function.names.has("self"));
                (exclusive, "self".to_owned(), &[][..], "`&self`")
            }
            FnArg::Typed(typed) => {
                let argument = arguments.next()?;
                let name = spell(argument.pattern.to_token_stream());
                let is_used = !function.names.bound_by(&argument.pattern).is_empty();
                let exclusive = exclusive(&typed.ty).filter(|_| is_used);
                (exclusive, name, &argument.cfgs[..], "a value or a shared reference")
            }
        };
        let text = format!(
            "an attempt that fails may leave `{name}` half changed, and the next one goes on from \
             there: take {instead}, or write `#[retry(mut_ok)]` if every attempt can start like that"
        );
        Some(warning("__RESILIENCE_RETRY_OF_MUT", exclusive?.span, &text, cfgs))
    });
    inputs.collect()
}

fn exclusive(ty: &Type) -> Option<Token![mut]> {
    match ty {
        Type::Reference(reference) => reference.mutability,
        Type::Paren(paren) => exclusive(&paren.elem),
        Type::Group(group) => exclusive(&group.elem),
        _ => None,
    }
}

/// A time limit ends a call where it waits, and one that blocks does not wait.
fn blocking_body(plan: &Plan<'_>, function: &Function) -> TokenStream {
    if !plan.stack.limits_time() || plan.stack.moves_body(function.form).is_some() {
        return TokenStream::new();
    }
    let warnings = blocking_calls(&function.body).into_iter().map(|call| {
        let text = format!(
            "`{}` blocks the thread, so the time limiter cannot end the call meanwhile: write {}, or \
             run it in `tokio::task::spawn_blocking`",
            call.what, call.instead
        );
        warning("__RESILIENCE_BLOCKING_CALL", call.span, &text, &[])
    });
    warnings.collect()
}

fn warning(name: &str, place: Span, text: &str, cfgs: &[Attribute]) -> TokenStream {
    let constant = Ident::new(name, Span::mixed_site());
    let used = Ident::new(name, place);
    quote! {
        #(#cfgs)*
        const _: () = {
            #[deprecated(note = #text)]
            const #constant: () = ();
            #used
        };
    }
}
