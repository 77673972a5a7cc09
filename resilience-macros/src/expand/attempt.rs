use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::{Attribute, ReturnType, spanned::Spanned};

use super::{Locals, Plan, lints, respan};
use crate::model::{Argument, Body, Form, Function, Passing};

/// One attempt: what the runtime runs inside the time limiter and the bulkhead.
pub(super) fn attempt(plan: &Plan<'_>, function: &Function) -> TokenStream {
    let Plan { private, locals: Locals { pass, attempt, .. }, .. } = plan;
    let outside = prepare(plan, function);
    let inside: Vec<TokenStream> =
        function.arguments.iter().filter_map(|argument| bind(plan, function, argument)).collect();
    let captures = captures(plan, function);
    let body = body(function);
    let (outside_too, inside) = if plan.stack.moves_body(function.form).is_some() {
        // The arguments must be owned by what is sent away, so they are bound before it is made.
        (inside, Vec::new())
    } else {
        (Vec::new(), inside)
    };
    let output = &function.output;
    let (protect, run) = if function.form == Form::Blocking {
        (quote!(protect_blocking), quote!(move || -> #output { #captures #body }))
    } else {
        // An exclusive `self` is borrowed, not moved: the next attempt needs it.
        let exclusive = function.receiver.as_ref().is_some_and(super::is_exclusive);
        let capture = (!(plan.keeps_arguments && exclusive)).then(|| quote!(move));
        let pin = pin(plan, function);
        let protect =
            if plan.stack.detach().is_some() { quote!(protect_detached) } else { quote!(protect) };
        (protect, quote!(async #capture { #pin #captures #(#inside)* #body }))
    };
    let mut protected = quote!(#private::Pass::#protect(&mut #pass, #attempt).await);
    if let Some(detach) = plan.stack.detach() {
        // What a task of its own cannot have is shown where such a task is asked for.
        protected = respan(protected, detach);
    }
    quote! {{
        #outside
        #(#outside_too)*
        let #attempt = #run;
        #protected
    }}
}

/// What happens before the attempt's future is made. It clones nothing but an owned `self`, which
/// cannot be given out from inside.
fn prepare(plan: &Plan<'_>, function: &Function) -> TokenStream {
    if !plan.keeps_arguments {
        return TokenStream::new();
    }
    let Plan { private, locals: Locals { policy, receiver, .. }, .. } = plan;
    let last = last(plan);
    let this = function.receiver.iter().filter(|r| r.passing == Passing::Owned).map(|r| {
        let this = &r.token;
        let lend =
            respan(quote!(#private::Lend::lend(#policy, &mut #receiver, #last)), r.token.span());
        quote!(#this = #lend;)
    });
    let lints = lints();
    let moves = plan.stack.moves_body(function.form).is_some();
    let arguments = function.arguments.iter().map(|argument| {
        let Argument { name, slot, cfgs, .. } = argument;
        let attrs = if argument.keeps_its_name() { &argument.attrs } else { cfgs };
        match argument.passing {
            Passing::Shared => TokenStream::new(),
            Passing::Exclusive => quote!(#(#attrs)* #lints let #name = &mut *#name;),
            Passing::Owned if moves => TokenStream::new(),
            Passing::Owned => quote!(#(#cfgs)* #lints let #slot = &mut #slot;),
        }
    });
    quote!(#(#this)* #(#arguments)*)
}

/// Gives an argument the name that the body knows it by.
fn bind(plan: &Plan<'_>, function: &Function, argument: &Argument) -> Option<TokenStream> {
    let Argument { name, pattern, passing, span, slot, attrs, .. } = argument;
    let Plan { private, locals: Locals { policy, .. }, .. } = plan;
    let lints = lints();
    let moves = plan.stack.moves_body(function.form).is_some();
    if plan.keeps_arguments && *passing == Passing::Owned {
        let last = last(plan);
        let slot = if moves { quote!(&mut #slot) } else { quote!(#slot) };
        let mut lend = quote!(#private::Lend::lend(#policy, #slot, #last));
        if moves {
            lend = quote!(#private::movable(#lend));
        }
        let lend = respan(lend, *span);
        return Some(quote!(#(#attrs)* #lints let #pattern = #lend;));
    }
    if moves && *passing == Passing::Owned {
        let value = respan(quote!(#private::movable(#name)), *span);
        return Some(quote!(#(#attrs)* #lints let #pattern = #value;));
    }
    (!argument.keeps_its_name()).then(|| quote!(#(#attrs)* #lints let #pattern = #name;))
}

/// Whether no further attempt can follow.
fn last(plan: &Plan<'_>) -> TokenStream {
    if plan.stack.retries() {
        let last = &plan.locals.last;
        quote!(#last)
    } else {
        quote!(true)
    }
}

/// Lets the attempt have whole arguments. An async block, like a closure, would have those fields alone
/// that it names: a field may not be `Send` though the whole is, and one that is only written would be
/// said to be never read.
fn captures(plan: &Plan<'_>, function: &Function) -> TokenStream {
    if plan.stack.moves_body(function.form).is_some() {
        return variables(function);
    }
    let this = this(function);
    let waits = |argument: &&Argument| plan.keeps_arguments && argument.passing == Passing::Owned;
    let unused = |argument: &&Argument| {
        argument.keeps_its_name() && !function.names.has(&argument.name.to_string())
    };
    let arguments = function.arguments.iter().filter(|a| !waits(a) && !unused(a));
    let arguments = arguments.map(|Argument { name, cfgs, .. }| whole(name, cfgs));
    quote!(#this #(#arguments)*)
}

/// Names everything that the body uses, as the body does.
fn variables(function: &Function) -> TokenStream {
    let this = this(function);
    let arguments = function.arguments.iter().flat_map(|Argument { pattern, cfgs, .. }| {
        function.names.bound_by(pattern).into_iter().map(|variable| whole(&variable, cfgs))
    });
    quote!(#this #(#arguments)*)
}

fn this(function: &Function) -> Option<TokenStream> {
    let receiver = function.receiver.as_ref().filter(|_| function.names.has("self"))?;
    Some(whole(&receiver.token, &[]))
}

/// A variable that is borrowed where a body is made is had there as a whole.
fn whole(variable: &impl ToTokens, cfgs: &[Attribute]) -> TokenStream {
    let lints = lints();
    quote!(#(#cfgs)* #lints let _ = &#variable;)
}

fn body(function: &Function) -> TokenStream {
    match &function.body {
        Body::Statements(statements) => quote!(#(#statements)*),
        Body::MakesFuture { block, returns: false } => quote!(#block.await),
        Body::MakesFuture { block, returns: true } => {
            // A boxed future's type has a name, and early returns may need it.
            let boxed = match (&function.signature.output, function.form) {
                (ReturnType::Type(arrow, ty), Form::Boxed) => Some(quote!(#arrow #ty)),
                _ => None,
            };
            let variables = variables(function);
            quote!((move || #boxed { #variables #block })().await)
        }
    }
}

/// Tells the compiler what the async block returns, which `?` and a body that never ends need. It is
/// said to be a `Result`, so that a function of another type is told to return one, not a future of
/// the macro's.
fn pin(plan: &Plan<'_>, function: &Function) -> TokenStream {
    let Body::Statements(_) = &function.body else { return TokenStream::new() };
    let (output, Plan { private, error, .. }) = (&function.output, plan);
    let value = quote!(<#output as #private::Outcome>::Value);
    let result = quote!(::core::result::Result<#value, #error>);
    let none = respan(quote!(::core::option::Option::None::<#result>), output.span());
    quote_spanned! {Span::mixed_site()=>
        if let ::core::option::Option::Some(__resilience_output) = #none {
            return __resilience_output;
        }
    }
}
