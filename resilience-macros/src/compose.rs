use proc_macro2::{Span, TokenStream};
use quote::quote;
use resilience_settings::Pattern;
use syn::{Attribute, ItemFn, TraitItemFn};

use crate::{
    expand,
    model::{Function, Layer, Stack},
    parse::{Written, hides_ours, is_marker, pattern_of},
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
    let stack = Stack::check(layers, siblings, &item.sig, &mut problems);
    let function = Function::check(item.clone(), &stack, &mut problems);
    match (function, problems.into_error()) {
        (Some(function), None) => expand::function(function, &stack),
        (_, error) => {
            // The function stays, so that its callers do not report errors of their own, and so do
            // the uses of its siblings' imports.
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
    let krate = layer.krate.unwrap_or_else(crate::parse::default_crate);
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
    let message = format!(
        "`{attribute}` stands here under another name, so the attributes above could not compose \
         with it: write it as `#[{attribute}]` or `#[resilience::{attribute}]`"
    );
    let error = syn::Error::new(Span::call_site(), message).to_compile_error();
    quote!(#item #error)
}

fn not_a_function(pattern: Pattern, tokens: &TokenStream, syntax: &syn::Error) -> TokenStream {
    let attribute = pattern.attribute();
    if let Ok(mut method) = syn::parse2::<TraitItemFn>(tokens.clone()) {
        // The siblings would say the same once more.
        method.attrs.retain(|attribute| pattern_of(&attribute.meta).is_none());
        let message = format!("`#[{attribute}]` needs a function with a body");
        let error = syn::Error::new(method.sig.ident.span(), message).to_compile_error();
        return quote!(#method #error);
    }
    let error = match syn::parse2::<syn::Item>(tokens.clone()) {
        Ok(syn::Item::Fn(_)) | Err(_) => syntax.to_compile_error(),
        Ok(item) => {
            let remedy = match item {
                syn::Item::Impl(_) | syn::Item::Trait(_) => ": put it on the method to protect",
                _ => "",
            };
            let message = format!("`#[{attribute}]` stands on functions only{remedy}");
            syn::Error::new(Span::call_site(), message).to_compile_error()
        }
    };
    quote!(#tokens #error)
}
