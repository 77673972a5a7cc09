//! From the checked model to tokens. The order of the layers is the runtime's business: what is
//! written here is one loop around one attempt, the same for every stack.
//!
//! No method is called by `value.method()`: an extension trait of the user's may have one of that
//! name for every type.

mod attempt;
mod failure;
mod fit;
mod keys;
mod lints;
mod locals;
mod site;
mod span;
mod spell;
mod warnings;

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::{
    ExprPath, FnArg, Ident, Meta, Signature, parse_quote, parse_quote_spanned, spanned::Spanned,
};

use crate::model::{Entry, Form, Function, Passing, Stack};
use lints::lints;
use locals::Locals;
use span::respan;

/// Writes the function with the stack composed around its body.
pub(crate) fn function(mut function: Function, stack: &Stack) -> TokenStream {
    let plan = Plan::of(&function, stack);
    if plan.keeps_arguments && function.receiver.as_ref().is_some_and(is_exclusive) {
        function.body.reborrow_self();
    }
    let composed = plan.compose(&function);
    let block = match function.form {
        Form::Async | Form::Blocking => quote!({ #composed }),
        Form::Opaque => quote!({ async move { #composed } }),
        Form::Entry => {
            let around = function.entry.iter().map(|Entry { future, rest }| {
                quote!({ let #future = async move { #composed }; #(#rest)* })
            });
            quote!(#(#around)*)
        }
        Form::Boxed => quote!({ ::std::boxed::Box::pin(async move { #composed }) }),
    };

    let private = &plan.private;
    let Function { mut attrs, vis, mut signature, form, receiver, .. } = function;
    if form == Form::Blocking {
        signature.asyncness = Some(syn::Token![async](signature.fn_token.span));
    }
    if plan.keeps_arguments
        && receiver.is_some_and(|receiver| receiver.passing == Passing::Owned)
        && let Some(FnArg::Receiver(written)) = signature.inputs.first_mut()
    {
        // Every attempt puts a fresh value into `self`: no other name can stand for it.
        written.mutability = Some(syn::Token![mut](written.self_token.span));
    }
    relax_expectations(&mut signature);
    // `#![..]` in the body would stand in the middle of the new one.
    for attribute in &mut attrs {
        attribute.style = syn::AttrStyle::Outer;
    }
    quote! {
        #(#attrs)*
        #[#private::__resilience_composed]
        #vis #signature #block
    }
}

/// Lets arguments in the signature meet no expectation about lints: what one is about may happen where
/// the body's name for the argument is bound, and a fallback may use the argument.
fn relax_expectations(signature: &mut Signature) {
    for input in &mut signature.inputs {
        let FnArg::Typed(argument) = input else { continue };
        for attr in &mut argument.attrs {
            if let Meta::List(list) = &mut attr.meta
                && list.path.is_ident("expect")
            {
                list.path = Ident::new("allow", list.path.span()).into();
            }
        }
    }
}

/// Uses the paths of attributes that were taken in: their imports would look unused, and an IDE
/// would not know them. They expand to nothing.
pub(crate) fn uses(siblings: &[syn::Path]) -> TokenStream {
    quote!(#(#[#siblings(__resilience_composed)] const _: () = ();)*)
}

/// Lets the compiler know of files that were read: a change of them compiles the function anew.
fn tracked(files: &[String]) -> TokenStream {
    quote!(#(const _: &[u8] = ::core::include_bytes!(#files);)*)
}

/// What of the runtime asks the function that is given to a method of the rules.
fn asked_by(rule: &str) -> &'static str {
    match rule {
        "record_result" | "retry_result" => "about_value",
        "open_for" | "retry_after" => "how_long",
        _ => "about_error",
    }
}

fn ident(name: &str) -> Ident {
    Ident::new(name, Span::call_site())
}

fn fallback_variable((index, path): (usize, &ExprPath)) -> Ident {
    let span = path.span().resolved_at(Span::mixed_site());
    format_ident!("__resilience_fallback{index}", span = span)
}

fn is_exclusive(receiver: &crate::model::Receiver) -> bool {
    receiver.passing == Passing::Exclusive
}

/// What the parts of the expansion have to know of each other.
struct Plan<'a> {
    stack: &'a Stack,
    /// The path of the runtime.
    private: syn::Path,
    locals: Locals,
    /// The fallbacks' variables, outermost attribute's list in its order.
    fallbacks: Vec<Ident>,
    /// Whether arguments are needed after an attempt: by the next one, or by a fallback.
    keeps_arguments: bool,
    /// The error type, as a projection: the user may have written an alias.
    error: syn::Type,
}

impl<'a> Plan<'a> {
    fn of(function: &Function, stack: &'a Stack) -> Self {
        let krate = &stack.krate;
        let private: syn::Path = parse_quote!(#krate::__private);
        let output = &function.error_of;
        // A value that borrows from an exclusive reference keeps it: nothing is left for a
        // fallback but the error.
        let fallback_takes = !stack.fallbacks().is_empty() && !function.lends_out;
        let outcome = respan(quote!(#private::Outcome), output.span());
        Self {
            stack,
            error: parse_quote_spanned!(output.span()=> <#output as #outcome>::Error),
            private,
            locals: Locals::new(),
            fallbacks: stack.fallbacks().iter().enumerate().map(fallback_variable).collect(),
            keeps_arguments: stack.retries() || fallback_takes,
        }
    }

    fn compose(&self, function: &Function) -> TokenStream {
        let Self { private, locals, .. } = self;
        let Locals { pass, rules, outcome, result, last, .. } = locals;
        let enter = keys::enter(self, function);
        let siblings = uses(&self.stack.siblings);
        let files = tracked(&self.stack.files);
        let warnings = warnings::warnings(self, function);
        let site = site::site(self, function);
        let check_fallbacks = fit::check(self, function);
        let define_rules = self.rules(function);
        let define_fallbacks = self.fallbacks();
        let define_slots = self.slots(function);
        let attempt = attempt::attempt(self, function);
        let conclusion = failure::conclusion(self, function);
        let hygienic = Span::mixed_site();
        let one_pass = quote_spanned! {hygienic=>
            let #outcome = match #private::Pass::admit(&mut #pass).await {
                ::core::result::Result::Ok(()) => #attempt,
                ::core::result::Result::Err(__resilience_refusal) => {
                    ::core::result::Result::Err(#private::CallError::Resilience(__resilience_refusal))
                }
            };
        };
        // A fallback may take long, and keeps nothing of the call's own meanwhile.
        let finish =
            (!self.fallbacks.is_empty()).then(|| quote!(#private::Pass::finish(&mut #pass);));
        let stands = quote_spanned! {hygienic=>
            ::core::result::Result::Ok(__resilience_value)
                if #private::Pass::succeed(&mut #pass, &#rules)
        };
        let settle = quote!(#private::Pass::settle(&mut #pass, #outcome, &#rules));
        let call = if self.stack.retries() {
            quote_spanned! {hygienic=>
                let #result = loop {
                    // In a block of its own: the outcome would be kept while the call waits.
                    let __resilience_wait = {
                        let #last = #private::Pass::is_last_attempt(&#pass);
                        #one_pass
                        let #outcome = match #outcome {
                            #stands => break ::core::result::Result::Ok(__resilience_value),
                            #outcome => #outcome,
                        };
                        match #settle {
                            ::core::ops::ControlFlow::Break(__resilience_done) => break __resilience_done,
                            ::core::ops::ControlFlow::Continue(__resilience_wait) => __resilience_wait,
                        }
                    };
                    #private::Pass::back_off(&#pass, __resilience_wait).await;
                };
            }
        } else {
            quote_spanned! {hygienic=>
                // As above: it would be kept while a fallback runs.
                let #result = {
                    #one_pass
                    match #outcome {
                        #stands => ::core::result::Result::Ok(__resilience_value),
                        #outcome => #private::settled(#settle),
                    }
                };
            }
        };
        let composed = quote! {
            #define_rules
            #define_fallbacks
            #enter
            #define_slots
            #call
            #finish
            #conclusion
        };
        // All attempts and the fallback are one call: its key is made around them.
        let composed = if self.stack.idempotency_key() {
            quote!(#private::new_call(async move { #composed }).await)
        } else {
            composed
        };
        quote! {
            #siblings
            #files
            #warnings
            #site
            #check_fallbacks
            #composed
        }
    }

    /// What the predicates say, and what the error type tells about itself.
    fn rules(&self, function: &Function) -> TokenStream {
        let Self { private, error, locals: Locals { rules, .. }, .. } = self;
        let output = &function.output;
        let outcome = respan(quote!(#private::Outcome), output.span());
        // The value's type is written out: a predicate of another type would decide it otherwise.
        let none = quote!(#private::Rules::<<#output as #outcome>::Value, #error>::new());
        let none = respan(none, output.span());
        let written = self.stack.layers.iter().flat_map(|layer| &layer.rules);
        let stated = written.fold(none, |rules, (name, path)| {
            let (method, ask) = (ident(name), ident(asked_by(name)));
            let about = Ident::new("__resilience_about", Span::mixed_site());
            let ask = respan(quote!(|#about| #private::#ask(#about, #path)), path.span());
            quote!(#private::Rules::#method(#rules, #ask))
        });
        let known = if function.error_is_open {
            let facts = respan(quote!(#private::facts!(#error)), output.span());
            quote!(#private::Rules::facts(#stated, #facts))
        } else {
            stated
        };
        quote!(let #rules = #known;)
    }

    /// Names each fallback once: a generic one is the same instance wherever it is used.
    fn fallbacks(&self) -> TokenStream {
        let paths = self.stack.fallbacks();
        let names = &self.fallbacks;
        quote!(#(let #names = #paths;)*)
    }

    /// Lays owned arguments aside, and decides what an attempt does with them.
    fn slots(&self, function: &Function) -> TokenStream {
        if !self.keeps_arguments {
            return TokenStream::new();
        }
        let Self { private, locals: Locals { policy, receiver, .. }, .. } = self;
        let base = if self.stack.retries() { quote!(PerAttempt) } else { quote!(Once) };
        let lints = lints();
        let fallbacks: &[Ident] = if function.lends_out { &[] } else { &self.fallbacks };
        let own = function.receiver.iter().filter(|r| r.passing == Passing::Owned).map(|r| {
            let this = &r.token;
            quote!(#lints let mut #receiver = #private::Slot::new(#this);)
        });
        let owned = function.arguments.iter().filter(|a| a.passing == Passing::Owned).map(|a| {
            let (name, slot, cfgs) = (&a.name, &a.slot, &a.cfgs);
            quote!(#(#cfgs)* #lints let mut #slot = #private::Slot::new(#name);)
        });
        let slots: Vec<TokenStream> = own.chain(owned).collect();
        let policy = (!slots.is_empty())
            .then(|| quote!(let #policy = #private::policy!(#private::#base #(, #fallbacks)*);));
        quote!(#policy #(#slots)*)
    }
}
