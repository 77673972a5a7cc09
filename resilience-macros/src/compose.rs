use proc_macro2::{Span, TokenStream};
use quote::quote;
use resilience_settings::Pattern;
use syn::{
    Attribute, ItemFn, Path, Signature, Token, Visibility,
    parse::{ParseStream, Parser},
};

use crate::{
    expand,
    model::{Function, Layer, Stack},
    names,
    parse::{Written, default_crate, hides_ours, is_marker, outer_attributes, pattern_of},
    problems::Problems,
};

/// Expands the first of our attributes on a function, and takes the others with it.
pub(crate) fn attribute(pattern: Pattern, args: TokenStream, tokens: &TokenStream) -> TokenStream {
    if args.to_string() == "__resilience_composed" {
        // What an expansion leaves in the place of a sibling that it has taken in.
        return TokenStream::new();
    }
    let mut item = match syn::parse2::<ItemFn>(tokens.clone()) {
        Ok(item) => item,
        Err(error) => return not_a_function(pattern, tokens, &error),
    };
    if item.attrs.iter().any(is_marker) {
        return composed_already(pattern, &item);
    }
    let first = Written { pattern, span: Span::call_site(), args };
    if item.attrs.iter().any(hides_ours) {
        return behind_cfg_attr(&first, item);
    }

    let mut problems = Problems::default();
    let mut written = vec![first];
    let mut siblings = Vec::new();
    item.attrs.retain(|attribute| match Written::from_sibling(attribute) {
        Some(sibling) => {
            written.extend(problems.take(sibling));
            siblings.push(attribute.path().clone());
            false
        }
        None => true,
    });
    let layers: Vec<Layer> =
        written.into_iter().map(|written| Layer::check(written, &mut problems)).collect();
    let mut stack = Stack::check(layers, siblings, &item.sig, &mut problems);
    stack.files = names::check(&stack, &item.sig.ident, &mut problems);
    let function = Function::check(item.clone(), &stack, &mut problems);
    match (function, problems.into_error()) {
        (Some(function), None) => expand::function(function, &stack),
        (_, error) => {
            // The function stays, so that its callers do not report errors of their own, and so do
            // the uses of its siblings' imports.
            if stack.thread_pool().is_some() && item.sig.constness.is_none() {
                item.sig.asyncness.get_or_insert(Token![async](item.sig.fn_token.span));
            }
            let uses = expand::uses(&stack.siblings);
            item.block.stmts.insert(0, syn::parse_quote!(const _: () = { #uses };));
            let errors = error.map(|error| error.to_compile_error());
            quote!(#item #errors)
        }
    }
}

/// Lets `cfg_attr`s of siblings be decided first: they move up, the attribute that expands moves
/// below them, and the one that then comes first sees its siblings plainly.
fn behind_cfg_attr(first: &Written, mut item: ItemFn) -> TokenStream {
    // A fallible path would be reported when the attribute expands for good.
    let layer = Layer::check(
        Written { pattern: first.pattern, span: first.span, args: first.args.clone() },
        &mut Problems::default(),
    );
    let krate = layer.krate.unwrap_or_else(default_crate);
    let name = syn::Ident::new(first.pattern.attribute(), first.span);
    let args = &first.args;
    let (mut attrs, rest): (Vec<Attribute>, Vec<Attribute>) =
        item.attrs.into_iter().partition(hides_ours);
    attrs.push(syn::parse_quote!(#[#krate::#name(#args)]));
    attrs.extend(rest);
    item.attrs = attrs;
    quote!(#item)
}

fn composed_already(pattern: Pattern, item: &ItemFn) -> TokenStream {
    let attribute = pattern.attribute();
    let krate = default_crate().segments[0].ident.clone();
    let message = format!(
        "`{attribute}` stands here under another name, so the attributes above could not compose \
         with it: write it as `#[{attribute}]` or `#[{krate}::{attribute}]`"
    );
    let error = syn::Error::new(Span::call_site(), message).to_compile_error();
    quote!(#item #error)
}

/// Says what the attribute needs instead. What it stands on stays, also what cannot be read: somebody
/// may be writing it.
fn not_a_function(pattern: Pattern, tokens: &TokenStream, syntax: &syn::Error) -> TokenStream {
    let attribute = pattern.attribute();
    if let Ok(mut declared) = Declared::parse.parse2(tokens.clone()) {
        // The siblings would say the same once more.
        declared.attrs.retain(|attribute| !is_ours(attribute));
        let message = format!(
            "`#[{attribute}]` needs a function with a body: put it on the method in the `impl`, or \
             on an `async fn` that calls this one"
        );
        let error = syn::Error::new(declared.signature.ident.span(), message).to_compile_error();
        let Declared { attrs, vis, signature } = declared;
        return quote!(#(#attrs)* #vis #signature; #error);
    }
    // The siblings would say the same once more.
    let (attrs, rest) = outer_attributes(tokens.clone());
    let (siblings, attrs): (Vec<_>, Vec<_>) = attrs.into_iter().partition(is_ours);
    let Ok(item) = syn::parse2::<syn::Item>(tokens.clone()) else {
        let error = syntax.to_compile_error();
        return quote!(#(#attrs)* #rest #error);
    };
    let has_methods = matches!(
        item,
        syn::Item::Impl(_)
            | syn::Item::Trait(_)
            | syn::Item::Struct(_)
            | syn::Item::Enum(_)
            | syn::Item::Union(_)
    );
    let protected = if has_methods { "method" } else { "function" };
    let message =
        format!("`#[{attribute}]` stands on functions only: put it on the {protected} to protect");
    let error = syn::Error::new(Span::call_site(), message).to_compile_error();
    // Anything else may stand where there is no place for these.
    let uses = has_methods.then(|| expand::uses(&paths(&siblings)));
    quote!(#(#attrs)* #rest #uses #error)
}

fn is_ours(attribute: &Attribute) -> bool {
    pattern_of(&attribute.meta).is_some()
}

fn paths(attributes: &[Attribute]) -> Vec<Path> {
    attributes.iter().map(|attribute| attribute.path().clone()).collect()
}

/// A function without a body: a trait's method, or one of an `extern` block.
struct Declared {
    attrs: Vec<Attribute>,
    vis: Visibility,
    signature: Signature,
}

impl Declared {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let declared = Self {
            attrs: input.call(Attribute::parse_outer)?,
            vis: input.parse()?,
            signature: input.parse()?,
        };
        input.parse::<Token![;]>()?;
        Ok(declared)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What an editor sees of an item with a wrong attribute; without spaces, which are the printer's.
    fn expanded(pattern: Pattern, args: &str, item: &str) -> String {
        let tokens = |text: &str| text.parse::<TokenStream>().expect("tokens");
        packed(&attribute(pattern, tokens(args), &tokens(item)).to_string())
    }

    fn packed(text: &str) -> String {
        text.split_whitespace().collect()
    }

    fn assert_kept(pattern: Pattern, args: &str, item: &str, kept: &str) {
        let expanded = expanded(pattern, args, item);
        assert!(expanded.contains("compile_error"), "({args}) on {item} is wrong: {expanded}");
        assert!(expanded.contains(&packed(kept)), "({args}) on {item} loses it: {expanded}");
    }

    const BODY: &str = "self.store.write(amount).await";

    #[test]
    fn the_body_stays_in_reach_of_an_editor_whatever_is_wrong_with_the_arguments() {
        for args in [
            "max_attempts = ",
            "max_attempts",
            "max_attempts = 0",
            "max_attemps = 3",
            "\"payment\"",
            "name = \"a\" max_attempts = 3",
            "name = \"a\", name = \"b\"",
            "wait_duration = \"5 parsecs\"",
            "= 3",
            "=> , ; 7",
            "retry_if = |_| true",
            "fallback = []",
        ] {
            let item = format!("async fn pay(&self, amount: u32) -> Result<u32, E> {{ {BODY} }}");
            assert_kept(Pattern::Retry, args, &item, BODY);
            assert_kept(Pattern::Retry, args, &item, "async fn pay(&self, amount: u32)");
        }
    }

    #[test]
    fn the_body_stays_in_reach_of_an_editor_whatever_is_wrong_with_the_function() {
        for signature in [
            "fn pay(&self, amount: u32) -> Result<u32, E>",
            "const fn pay(&self, amount: u32) -> Result<u32, E>",
            "async fn pay(&self, amount: u32)",
            "async fn pay(&self, amount: u32) -> u32",
            "#[retry] async fn pay(&self, amount: u32) -> Result<u32, E>",
            "#[time_limiter(detach)] async fn pay(&self, amount: u32) -> Result<u32, E>",
            "#[time_limiter = 3] async fn pay(&self, amount: u32) -> Result<u32, E>",
            "#[__resilience_composed] async fn pay(&self, amount: u32) -> Result<u32, E>",
        ] {
            let item = format!("{signature} {{ {BODY} }}");
            assert_kept(Pattern::Retry, "", &item, BODY);
            assert_kept(Pattern::Retry, "", &item, "fn pay(&self, amount: u32)");
        }
    }

    #[test]
    fn a_body_that_cannot_be_read_yet_stays_in_reach_of_an_editor() {
        for body in ["self.", "let order = ;", "match self.state { Open => }", "let x: = 3; x"] {
            let item = format!("pub async fn pay(&self) -> Result<u32, E> {{ {body} }}");
            assert_kept(Pattern::Retry, "", &item, &item);
        }
    }

    #[test]
    fn what_cannot_be_read_is_reported_once_however_many_attributes_there_are() {
        let expanded =
            expanded(Pattern::Retry, "", "#[time_limiter] #[inline] async fn pay() { x. }");
        assert_eq!(expanded.matches("compile_error").count(), 1);
        assert!(!expanded.contains("time_limiter") && expanded.contains("inline"), "{expanded}");
    }

    #[test]
    fn what_is_no_function_is_reported_once_however_many_attributes_there_are() {
        let expanded =
            expanded(Pattern::Retry, "", "#[time_limiter] #[derive(Debug)] struct Payment;");
        assert_eq!(expanded.matches("compile_error").count(), 1);
        assert!(expanded.contains("#[derive(Debug)]structPayment;"), "{expanded}");
    }

    #[test]
    fn what_is_no_function_stays_as_it_is() {
        for item in [
            "fn pay(&self) -> Result<u32, E>;",
            "pub fn pay(amount: u32) -> u32;",
            "struct Payment { amount: u32 }",
            "impl Payment { async fn pay(&self) {} }",
            "mod payments { fn pay() {} }",
            "const PAYMENTS: u32 = 3;",
        ] {
            assert_kept(Pattern::CircuitBreaker, "", item, item);
        }
    }

    #[test]
    fn callers_of_a_function_for_a_thread_pool_can_await_it_whatever_is_wrong() {
        for args in ["type = \"thread_pool\", max_attempts = 3", "type = \"thread_pool\", key = a"]
        {
            let item = "fn render(page: String) -> Result<u32, E> { Ok(1) }";
            assert_kept(Pattern::Bulkhead, args, item, "async fn render(page: String)");
        }
    }
}
