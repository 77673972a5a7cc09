use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};

use super::{Locals, Plan, lints, respan};
use crate::model::{Function, Passing};

/// What the function returns: the stack's result, a fallback's, or an error in the user's type.
pub(super) fn conclusion(plan: &Plan<'_>, function: &Function) -> TokenStream {
    let Plan { private, locals: Locals { result, failed, identity, running, .. }, error, .. } =
        plan;
    let fallbacks = &plan.fallbacks;
    if fallbacks.is_empty() {
        return respan(quote!(#private::conclude(#result)), function.error_span);
    }
    let (receiver, arguments) = offered(plan, function);
    let hygienic = Span::mixed_site();
    let unhandled = respan(quote!(#private::Failed::unhandled(#failed)), function.error_span);
    let last = fallbacks.len() - 1;
    let dispatch = fallbacks.iter().enumerate().map(|(index, fallback)| {
        // One span for all of it, hygiene included: a mistake that comes up in several places is
        // reported once if they are the same.
        let place = |tokens| respan(tokens, fallback.span());
        let fit = place(quote_spanned! {hygienic=>
            let (#failed, #fallback) = __resilience_fit(#failed, #fallback);
        });
        let fits = place(quote_spanned! {hygienic=>
            #private::Failed::fits(#failed, #identity, &#fallback)
        });
        let respond = place(quote_spanned! {hygienic=>
            #private::Failed::respond(#failed, #identity, #fallback)
        });
        let wait = place(quote_spanned!(hygienic=> #running.await));
        // Nothing but the fallback's future is alive while it is awaited.
        let call = quote_spanned! {hygienic=>
            let #running = match #respond {
                #private::Response::Ready(__resilience_answer) => return __resilience_answer,
                #private::Response::Pending(__resilience_future) => __resilience_future,
                #private::Response::Unhandled(#failed) => return #unhandled,
            };
            #wait
        };
        if index == last {
            return quote!(#fit #call);
        }
        quote_spanned! {hygienic=>
            #fit
            let (__resilience_fits, #failed) = #fits;
            if __resilience_fits {
                return { #call };
            }
        }
    });
    let (output, lints) = (&function.output, lints());
    quote_spanned! {hygienic=>
        // Moved as a whole: a result that is only taken apart would be kept while a fallback runs.
        let #failed = match ::core::convert::identity(#result) {
            ::core::result::Result::Ok(__resilience_value) => {
                return ::core::result::Result::Ok(__resilience_value);
            }
            ::core::result::Result::Err(__resilience_error) => __resilience_error,
        };
        let #identity = #private::identity!(#error);
        #lints
        let #failed = #private::Failed::new(
            ::core::marker::PhantomData::<#output>,
            #receiver,
            #arguments,
            #failed,
        );
        #(#dispatch)*
    }
}

/// What a fallback may take besides the error.
fn offered(plan: &Plan<'_>, function: &Function) -> (TokenStream, TokenStream) {
    let Plan { private, locals: Locals { receiver, .. }, .. } = plan;
    if function.lends_out {
        return (quote!(#private::NoReceiver), quote!(#private::NoArguments));
    }
    let this = match &function.receiver {
        None => quote!(#private::NoReceiver),
        Some(r) if r.passing == Passing::Owned => quote!(#receiver),
        Some(r) => {
            let this = &r.token;
            quote!(#private::Slot::new(#this))
        }
    };
    let arguments = function.arguments.iter().map(|argument| {
        let (name, slot, cfgs) = (&argument.name, &argument.slot, &argument.cfgs);
        match argument.passing {
            Passing::Owned => quote!(#(#cfgs)* #slot),
            Passing::Shared | Passing::Exclusive => quote!(#(#cfgs)* #private::Slot::new(#name)),
        }
    });
    (this, quote!((#(#arguments,)*)))
}
