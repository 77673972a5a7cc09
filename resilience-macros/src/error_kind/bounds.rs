//! What the type parameters of an error must be for its kinds to be known.

use std::collections::BTreeSet;

use quote::ToTokens;
use syn::{DeriveInput, Ident, Path, Type, TypePath, WherePredicate, parse_quote, visit::Visit};

/// Bounds for the type parameters in the fields whose kinds are taken.
///
/// A parameter is bound, not the field's type: a `Box` of the type itself would ask for itself. Of
/// what belongs to a parameter (`T::Error`), the whole path is bound.
pub(super) fn of_fields<'a>(
    input: &'a DeriveInput,
    fields: impl Iterator<Item = &'a Type>,
    krate: &Path,
) -> Vec<WherePredicate> {
    let mut found = Found {
        own: &input.ident,
        parameters: input
            .generics
            .type_params()
            .map(|parameter| parameter.ident.to_string())
            .collect(),
        seen: BTreeSet::new(),
        types: Vec::new(),
    };
    fields.for_each(|ty| found.visit_type(ty));
    let bound = |ty: &TypePath| parse_quote!(#ty: #krate::ErrorKind);
    found.types.iter().map(|ty| bound(ty)).collect()
}

struct Found<'a> {
    own: &'a Ident,
    parameters: Vec<String>,
    seen: BTreeSet<String>,
    types: Vec<&'a TypePath>,
}

impl<'a> Visit<'a> for Found<'a> {
    fn visit_type_path(&mut self, ty: &'a TypePath) {
        let segments = &ty.path.segments;
        // What is inside of itself asks for nothing new. A longer path may be of another type of this
        // name; what it asks for then does no harm if it is the same after all.
        if segments.len() == 1 && segments[0].ident == *self.own {
            return;
        }
        let first = segments.first().map(|segment| segment.ident.to_string());
        let of_parameter = first.is_some_and(|first| self.parameters.contains(&first));
        if ty.qself.is_some() || of_parameter {
            if self.seen.insert(ty.to_token_stream().to_string()) {
                self.types.push(ty);
            }
        } else {
            syn::visit::visit_type_path(self, ty);
        }
    }
}
