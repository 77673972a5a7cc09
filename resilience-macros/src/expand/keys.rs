use proc_macro2::{Delimiter, Group, TokenStream};
use quote::quote;
use syn::{
    Expr, Pat, PatIdent,
    spanned::Spanned,
    visit_mut::{self, VisitMut},
};

use super::{Locals, Plan, lints, respan};
use crate::model::{Argument, Function};

/// Starts the call, before the arguments are laid aside: its keys are made of them.
pub(super) fn enter(plan: &Plan<'_>, function: &Function) -> TokenStream {
    let Plan { private, locals: Locals { pass, entered, .. }, .. } = plan;
    let mut keys = plan.stack.keys().map(|key| lend(plan, key)).peekable();
    if keys.peek().is_none() {
        return quote!(let mut #pass = #private::CallSite::enter(&__RESILIENCE_SITE););
    }
    let parts = function.arguments.iter().filter_map(parts);
    // One statement for all keys: what they borrow from temporaries lives as long as the call does.
    quote! {
        let mut #pass = {
            #(#parts)*
            let #entered = #private::CallSite::enter_keyed(&__RESILIENCE_SITE, &[#(#keys),*]);
            #entered
        };
    }
}

/// Borrows what the expression names, which a call must not lose.
fn lend(plan: &Plan<'_>, key: &Expr) -> TokenStream {
    let private = &plan.private;
    let span = key.span();
    let function = respan(quote!(#private::as_display), span);
    let borrow = respan(quote!(&&), span);
    let borrowed = match key {
        Expr::Binary(_) | Expr::Cast(_) | Expr::Range(_) => quote!(#borrow (#key)),
        // Around a name, parentheses would be said to be unneeded.
        _ => quote!(#borrow #key),
    };
    let mut arguments = Group::new(Delimiter::Parenthesis, borrowed);
    arguments.set_span(span.resolved_at(arguments.span()));
    quote!(#function #arguments)
}

/// Makes the names known that an argument's pattern binds. The body gets them later, by value.
fn parts(argument: &Argument) -> Option<TokenStream> {
    if let Pat::Ident(PatIdent { by_ref: None, subpat: None, .. }) = argument.pattern {
        return None;
    }
    let (name, cfgs, lints) = (&argument.name, &argument.cfgs, lints());
    let mut pattern = argument.pattern.clone();
    ByReference.visit_pat_mut(&mut pattern);
    Some(quote!(#(#cfgs)* #[allow(unused_variables)] #lints let #pattern = &#name;))
}

/// Turns a pattern for a value into one for a reference to it.
struct ByReference;

impl VisitMut for ByReference {
    fn visit_pat_mut(&mut self, pattern: &mut Pat) {
        while let Pat::Reference(reference) = pattern {
            *pattern = (*reference.pat).clone();
        }
        visit_mut::visit_pat_mut(self, pattern);
    }

    fn visit_pat_ident_mut(&mut self, pattern: &mut PatIdent) {
        pattern.by_ref = None;
        pattern.mutability = None;
        visit_mut::visit_pat_ident_mut(self, pattern);
    }
}

#[cfg(test)]
mod tests {
    use quote::ToTokens;
    use syn::parse::Parser;

    use super::*;

    #[test]
    fn a_pattern_for_a_reference_says_nothing_of_how_it_binds() {
        for (value, reference) in [
            ("(mut a, ref b)", "(a,b)"),
            ("&(a, &b)", "(a,b)"),
            ("Order { mut id, user: ref mut u, .. }", "Order{id,user:u,..}"),
            ("all @ (mut a, _)", "all@(a,_)"),
        ] {
            let mut pattern = Pat::parse_single.parse_str(value).expect("a pattern");
            ByReference.visit_pat_mut(&mut pattern);
            assert_eq!(pattern.into_token_stream().to_string().replace(' ', ""), reference);
        }
    }
}
