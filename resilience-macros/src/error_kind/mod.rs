//! `#[derive(ErrorKind)]`.

mod bounds;
mod case;
mod written;

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::{Data, DeriveInput, Path, Type, spanned::Spanned};

use crate::{parse::default_crate, problems::Problems};
use case::{Case, Inside, Kinds, inside_option};
use written::Written;

/// Writes the implementation and registers the kinds of the type.
pub(crate) fn derive(tokens: TokenStream) -> TokenStream {
    let input = match syn::parse2::<DeriveInput>(tokens) {
        Ok(input) => input,
        Err(error) => return error.to_compile_error(),
    };
    let mut problems = Problems::default();
    let written = Written::read(&input.attrs, &mut problems);
    let cases = cases(&input, &written, &mut problems);
    if let Some(error) = problems.into_error() {
        return error.to_compile_error();
    }
    implementation(&input, &cases, &written.krate.unwrap_or_else(default_crate))
}

fn cases<'a>(input: &'a DeriveInput, above: &Written, problems: &mut Problems) -> Vec<Case<'a>> {
    match &input.data {
        Data::Enum(data) => {
            if let Some(from) = &above.from {
                problems.at(from, "`from` stands above the variant whose field knows its kinds");
            }
            let variants = data.variants.iter().map(|variant| {
                let written = Written::read(&variant.attrs, problems);
                if let Some(path) = &written.krate {
                    problems.at(path, "`crate` stands above the enum");
                }
                let name = &variant.ident;
                let pattern = quote!(Self::#name);
                Case::new(pattern, name, &variant.fields, &written, &above.groups, problems)
            });
            variants.collect()
        }
        Data::Struct(data) => {
            let pattern = quote!(Self);
            vec![Case::new(pattern, &input.ident, &data.fields, above, &[], problems)]
        }
        Data::Union(data) => {
            problems.at(data.union_token, "`ErrorKind` is derived for enums and structs");
            Vec::new()
        }
    }
}

fn implementation(input: &DeriveInput, cases: &[Case<'_>], krate: &Path) -> TokenStream {
    let private = quote!(#krate::__private);
    let name = &input.ident;
    let mut generics = input.generics.clone();
    let taken = cases.iter().filter_map(|case| match &case.kinds {
        Kinds::Of(Inside { ty, .. }) => Some(*ty),
        Kinds::Own(_) => None,
    });
    let bounds = bounds::of_fields(input, taken, krate);
    if !bounds.is_empty() {
        generics.make_where_clause().predicates.extend(bounds);
    }
    let (generics, arguments, bounds) = generics.split_for_impl();

    let kinds = cases.iter().map(|case| kinds_arm(case, krate));
    let refusal = refusal(cases, krate);
    // An enum without variants cannot be matched by reference.
    let value = if cases.is_empty() { quote!(*self) } else { quote!(self) };
    let mut declared: Vec<&String> = cases.iter().flat_map(Case::own_kinds).collect();
    declared.sort();
    declared.dedup();
    let declaration =
        (!declared.is_empty()).then(|| quote!(#private::declare_kinds!(&[#(#declared),*]);));
    quote! {
        #[automatically_derived]
        #[allow(deprecated)]
        impl #generics #krate::ErrorKind for #name #arguments #bounds {
            fn kinds(&self) -> &'static [&'static str] {
                match #value {
                    #(#kinds,)*
                }
            }

            #refusal
        }

        #declaration
    }
}

fn kinds_arm(case: &Case<'_>, krate: &Path) -> TokenStream {
    let pattern = &case.pattern;
    match &case.kinds {
        Kinds::Own(kinds) => quote!(#pattern { .. } => &[#(#kinds),*]),
        Kinds::Of(Inside { member, ty }) => {
            let inside = format_ident!("__resilience_inside", span = Span::mixed_site());
            // At the type, which is what has no kinds if that is so.
            let kinds = quote_spanned!(ty.span()=> <#ty as #krate::ErrorKind>::kinds(#inside));
            quote!(#pattern { #member: #inside, .. } => #kinds)
        }
    }
}

/// The method `refusal`, if there is a field in which one can travel.
fn refusal(cases: &[Case<'_>], krate: &Path) -> Option<TokenStream> {
    let private = quote!(#krate::__private);
    let refusals = cases.iter().filter_map(|case| {
        let Inside { member, ty } = case.carrier()?;
        let pattern = &case.pattern;
        let carrier = format_ident!("__resilience_carrier", span = Span::mixed_site());
        let read = |ty: &Type| quote!(#private::facts!(#ty)(#carrier).refusal);
        let refusal = inside_option(ty).map(read).map_or_else(
            || read(ty),
            |refusal| {
                quote! {
                    match #carrier {
                        ::core::option::Option::Some(#carrier) => #refusal,
                        ::core::option::Option::None => ::core::option::Option::None,
                    }
                }
            },
        );
        Some(quote!(#pattern { #member: #carrier, .. } => #refusal))
    });
    let refusals: Vec<TokenStream> = refusals.collect();
    (!refusals.is_empty()).then(|| {
        let rest =
            (refusals.len() < cases.len()).then(|| quote!(_ => ::core::option::Option::None,));
        quote! {
            fn refusal(
                &self,
            ) -> ::core::option::Option<::std::borrow::Cow<'_, #krate::Error>> {
                match self {
                    #(#refusals,)*
                    #rest
                }
            }
        }
    })
}
