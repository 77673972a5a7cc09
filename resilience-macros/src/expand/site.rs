use proc_macro2::{Literal, TokenStream};
use quote::{format_ident, quote};
use resilience_settings::Value;
use syn::{LitStr, ext::IdentExt};

use super::Plan;
use crate::model::{Function, Inline, Layer};

/// The call site: one static per function, also per generic one, that names everything which is
/// known when the program is compiled.
pub(super) fn site(plan: &Plan<'_>, function: &Function) -> TokenStream {
    let private = &plan.private;
    let ident = &function.signature.ident;
    let name = LitStr::new(&ident.unraw().to_string(), ident.span());
    let layers = plan.stack.layers.iter().map(|spec| layer(plan, spec, &name));
    let permits = plan.stack.permits();
    let detach = plan.stack.detach().is_some();
    let deadline = plan.stack.deadline();
    // Cargo sets it to the package that is being compiled, which is the user's.
    let krate = std::env::var("CARGO_PKG_NAME").unwrap_or_default();
    quote! {
        static __RESILIENCE_SITE: #private::CallSite = #private::CallSite::new(&#private::SiteSpec {
            function: ::core::concat!(::core::module_path!(), "::", #name),
            file: ::core::file!(),
            line: ::core::line!(),
            krate: #krate,
            layers: &[#(#layers),*],
            permits: #permits,
            detach: #detach,
            deadline: #deadline,
        });
        #private::register!(__RESILIENCE_SITE);
    }
}

fn layer(plan: &Plan<'_>, layer: &Layer, function: &LitStr) -> TokenStream {
    let private = &plan.private;
    let pattern = format_ident!("{}", format!("{:?}", layer.pattern));
    let (named, keyed) = (layer.name.is_some(), layer.key.is_some());
    let name = layer.name.as_ref().unwrap_or(function);
    let inline = layer.inline.iter().map(|setting| {
        let (key, value) = (setting.key, value(setting));
        quote!((#key, #private::InlineValue::#value))
    });
    let base_config = layer.base_config.as_ref().map_or_else(
        || quote!(::core::option::Option::None),
        |name| quote!(::core::option::Option::Some(#name)),
    );
    quote! {
        #private::LayerSpec {
            pattern: #private::Pattern::#pattern,
            name: #name,
            named: #named,
            keyed: #keyed,
            inline: &[#(#inline),*],
            base_config: #base_config,
        }
    }
}

fn value(setting: &Inline) -> TokenStream {
    match &setting.value {
        Value::Bool(b) => quote!(Bool(#b)),
        Value::Integer(n) => {
            let n = Literal::u64_unsuffixed(*n);
            quote!(Integer(#n))
        }
        Value::Float(x) => {
            let x = Literal::f64_unsuffixed(*x);
            quote!(Float(#x))
        }
        Value::Duration(duration) => {
            // Durations are bounded by 2^63 - 1 nanoseconds.
            let nanos = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
            let nanos = Literal::u64_unsuffixed(nanos);
            quote!(Nanos(#nanos))
        }
        Value::Word(word) => quote!(Word(#word)),
        Value::Kinds(kinds) => {
            let kinds = kinds.iter();
            quote!(Kinds(&[#(#kinds),*]))
        }
        Value::Texts(texts) => {
            let texts = texts.iter();
            quote!(Texts(&[#(#texts),*]))
        }
        other => unreachable!("no literal is read as {other:?}"),
    }
}
