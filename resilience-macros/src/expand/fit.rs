//! The check of a fallback's arguments, in the function's own words.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::FnArg;

use super::{Plan, spell::spell};
use crate::model::{Function, returns};

/// As many arguments the runtime can hand on to a fallback.
pub(super) const MOST_ARGUMENTS: usize = 12;

/// What a fallback must be, as the runtime says too; but here its signature can be spelt out. The
/// check returns an opaque type, so that a fallback which does not fit is reported by nothing else.
pub(super) fn check(plan: &Plan<'_>, function: &Function) -> TokenStream {
    if plan.fallbacks.is_empty() {
        return TokenStream::new();
    }
    let private = &plan.private;
    let fits =
        format!("`{}` would fit, sync or async; {}", signature(plan, function), also(function));
    // In these texts a brace stands for a parameter of the trait.
    let fits = fits.replace('{', "{{").replace('}', "}}");
    quote! {
        #[diagnostic::on_unimplemented(
            message = "this fallback does not fit the function",
            label = "takes other arguments than the function, or no error",
            note = #fits,
            note = "the last argument must be the error: a `CallError<E>`, a `resilience::Error`, \
                    the function's `E`, or one of the structs such as `TimedOut`"
        )]
        trait __ResilienceFits<Form, S, A, X>: #private::Takes<Form, S, A, X> {}

        #[diagnostic::do_not_recommend]
        impl<F, Form, S, A, X> __ResilienceFits<Form, S, A, X> for F
        where
            F: #private::Takes<Form, S, A, X>,
        {}

        fn __resilience_fit<F, R, Form, S, A, X, T, E, Mode, Future>(
            failed: #private::Failed<S, A, T, E>,
            fallback: F,
        ) -> (
            #private::Failed<S, A, T, E>,
            impl #private::Takes<
                Form, S, A, X,
                Output = impl #private::Answers<T, E, Mode, Future = Future>,
            >,
        )
        where
            F: __ResilienceFits<Form, S, A, X, Output = R>,
            R: #private::Answers<T, E, Mode, Future = Future>,
        {
            (failed, fallback)
        }
    }
}

/// Why a fallback may take, or has to take, less than that.
fn also(function: &Function) -> String {
    if function.lends_out {
        "the value may borrow from a `&mut` argument, so only the error is left for a fallback"
            .to_owned()
    } else if function.arguments.len() > MOST_ARGUMENTS {
        format!("with more than {MOST_ARGUMENTS} arguments, only the error is left for a fallback")
    } else if function.receiver.is_some() {
        "or without the receiver; or the error alone".to_owned()
    } else {
        "or the error alone".to_owned()
    }
}

/// The signature of a fallback that takes whatever it can, as far as tokens tell.
fn signature(plan: &Plan<'_>, function: &Function) -> String {
    let name = match plan.stack.fallbacks() {
        [path] => path.path.segments.last().map(|last| last.ident.to_string()),
        _ => None,
    };
    let mut arguments: Vec<String> = Vec::new();
    if !function.lends_out && function.arguments.len() <= MOST_ARGUMENTS {
        let mut patterns = function.arguments.iter().map(|argument| &argument.pattern);
        arguments.extend(function.signature.inputs.iter().map(|input| match input {
            FnArg::Receiver(receiver) => spell(receiver.to_token_stream()),
            FnArg::Typed(typed) => {
                let (pattern, ty) = (patterns.next(), &typed.ty);
                spell(quote!(#pattern: #ty))
            }
        }));
    }
    let error = returns::error(&function.output)
        .map_or_else(|| "E".to_owned(), |error| spell(error.to_token_stream()));
    arguments.push(format!("error: CallError<{error}>"));
    let output = spell(function.output.to_token_stream());
    format!("fn {}({}) -> {output}", name.as_deref().unwrap_or("fallback"), arguments.join(", "))
}
