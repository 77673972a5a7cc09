//! `#[derive(ErrorKind)]`.

mod written;

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use resilience_settings::snake_case;
use syn::{
    Attribute, Data, DeriveInput, Field, Fields, GenericArgument, Ident, Path, PathArguments, Type,
    TypePath, ext::IdentExt,
};

use crate::{lifetimes::Lifetimes, parse::default_crate, problems::Problems};
use written::Written;

/// Writes the implementation and registers the kinds of the type.
pub(crate) fn derive(tokens: TokenStream) -> TokenStream {
    let input = match syn::parse2::<DeriveInput>(tokens) {
        Ok(input) => input,
        Err(error) => return error.to_compile_error(),
    };
    let mut problems = Problems::default();
    let Written { groups: shared, krate } = Written::read(&input.attrs, &mut problems);
    let cases: Vec<Case<'_>> = match &input.data {
        Data::Enum(data) => data
            .variants
            .iter()
            .map(|variant| {
                let Written { mut groups, krate } = Written::read(&variant.attrs, &mut problems);
                if let Some(path) = krate {
                    problems.at(path, "`crate` stands above the enum");
                }
                groups.extend(shared.iter().cloned());
                let name = &variant.ident;
                Case { pattern: quote!(Self::#name), ident: name, groups, fields: &variant.fields }
            })
            .collect(),
        Data::Struct(data) => vec![Case {
            pattern: quote!(Self),
            ident: &input.ident,
            groups: shared,
            fields: &data.fields,
        }],
        Data::Union(data) => {
            problems.at(data.union_token, "`ErrorKind` is derived for enums and structs");
            Vec::new()
        }
    };
    if let Some(error) = problems.into_error() {
        return error.to_compile_error();
    }
    implementation(&input, &cases, &krate.unwrap_or_else(default_crate))
}

/// A variant, or the struct.
struct Case<'a> {
    pattern: TokenStream,
    ident: &'a Ident,
    groups: Vec<String>,
    fields: &'a Fields,
}

impl Case<'_> {
    /// Its own kind, then its groups, each once.
    fn kinds(&self) -> Vec<String> {
        let mut kinds = vec![snake_case(&self.ident.unraw().to_string())];
        for group in &self.groups {
            if !kinds.contains(group) {
                kinds.push(group.clone());
            }
        }
        kinds
    }

    /// The field in which a refusal can travel: the source, or the only one.
    fn carrier(&self) -> Option<(usize, &Field)> {
        let is_source = |field: &Field| {
            let named = field.ident.as_ref().is_some_and(|name| name == "source");
            let marked = |a: &Attribute| a.path().is_ident("from") || a.path().is_ident("source");
            named || field.attrs.iter().any(marked)
        };
        let source = self.fields.iter().enumerate().find(|(_, field)| is_source(field));
        let only = || self.fields.iter().enumerate().next().filter(|_| self.fields.len() == 1);
        source.or_else(only).filter(|(_, field)| !Lifetimes::of(&field.ty).is_borrowed_object())
    }
}

/// `T` of an `Option<T>`: a source that may be missing, as `thiserror` reads it too.
fn inside_option(ty: &Type) -> Option<&Type> {
    let path = match ty {
        Type::Path(TypePath { qself: None, path, .. }) => path,
        // What a `macro_rules!` fragment stands for comes in an invisible group.
        Type::Group(group) => return inside_option(&group.elem),
        _ => return None,
    };
    let last = path.segments.last().filter(|last| last.ident == "Option")?;
    let PathArguments::AngleBracketed(arguments) = &last.arguments else { return None };
    match arguments.args.first() {
        Some(GenericArgument::Type(inside)) => Some(inside),
        _ => None,
    }
}

fn implementation(input: &DeriveInput, cases: &[Case<'_>], krate: &Path) -> TokenStream {
    let private = quote!(#krate::__private);
    let name = &input.ident;
    let (generics, arguments, bounds) = input.generics.split_for_impl();

    let kinds = cases.iter().map(|case| {
        let (pattern, kinds) = (&case.pattern, case.kinds());
        quote!(#pattern { .. } => &[#(#kinds),*])
    });
    let refusals = cases.iter().filter_map(|case| {
        let (index, field) = case.carrier()?;
        let member = field.ident.clone().map_or_else(|| index.into(), syn::Member::Named);
        let (pattern, ty) = (&case.pattern, &field.ty);
        let carrier = format_ident!("__resilience_carrier", span = proc_macro2::Span::mixed_site());
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
    let refusal = (!refusals.is_empty()).then(|| {
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
    });
    // An enum without variants cannot be matched by reference.
    let value = if cases.is_empty() { quote!(*self) } else { quote!(self) };
    let mut declared: Vec<String> = cases.iter().flat_map(Case::kinds).collect();
    declared.sort();
    declared.dedup();
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

        #private::declare_kinds!(&[#(#declared),*]);
    }
}
