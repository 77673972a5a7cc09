//! A variant of the enum, or the struct.

use proc_macro2::TokenStream;
use resilience_settings::snake_case;
use syn::{
    Attribute, Error, Field, Fields, GenericArgument, Ident, LitStr, Member, PathArguments, Type,
    TypePath, ext::IdentExt,
};

use super::written::Written;
use crate::{lifetimes::Lifetimes, problems::Problems};

/// A variant, or the struct.
pub(super) struct Case<'a> {
    pub(super) pattern: TokenStream,
    pub(super) kinds: Kinds<'a>,
    fields: &'a Fields,
}

/// Where the kinds of a case come from.
pub(super) enum Kinds<'a> {
    /// Its own kind, then its groups, each once.
    Own(Vec<String>),
    /// The error in this field.
    Of(Inside<'a>),
}

/// A field.
pub(super) struct Inside<'a> {
    pub(super) member: Member,
    pub(super) ty: &'a Type,
}

impl<'a> Case<'a> {
    /// Reads what is written at a case; `shared` are the groups above the enum.
    pub(super) fn new(
        pattern: TokenStream,
        name: &Ident,
        fields: &'a Fields,
        written: &Written,
        shared: &[LitStr],
        problems: &mut Problems,
    ) -> Self {
        let mut case = Self { pattern, kinds: Kinds::Own(Vec::new()), fields };
        case.kinds = match &written.from {
            Some(from) => match case.inside(from, &written.groups, shared) {
                Ok(inside) => Kinds::Of(inside),
                Err(problem) => {
                    problems.push(problem);
                    return case;
                }
            },
            None => Kinds::Own(own_kinds(name, written.groups.iter().chain(shared))),
        };
        case
    }

    /// The field whose kinds are taken, or why that cannot be.
    fn inside(
        &self,
        from: &Ident,
        groups: &[LitStr],
        shared: &[LitStr],
    ) -> Result<Inside<'a>, Error> {
        if let Some(group) = groups.first() {
            let message = "with `from` the kinds are those of the field, and there are no groups: \
                           remove one of them, or write the group at the field's own type";
            return Err(Error::new_spanned(group, message));
        }
        if !shared.is_empty() {
            let message = "the groups above the enum cannot be added to the kinds of a field: \
                           write them at each of the other variants instead";
            return Err(Error::new_spanned(from, message));
        }
        let message = "`from` takes the kinds of the error inside: there must be one field, or one \
                       that is called `source` or has `#[source]` or `#[from]`";
        self.source_or_only().ok_or_else(|| Error::new_spanned(from, message))
    }

    /// The kinds that the case itself adds to those of the program.
    pub(super) fn own_kinds(&self) -> &[String] {
        match &self.kinds {
            Kinds::Own(kinds) => kinds,
            Kinds::Of(_) => &[],
        }
    }

    /// The field in which a refusal can travel: the source, or the only one.
    pub(super) fn carrier(&self) -> Option<Inside<'a>> {
        self.source_or_only().filter(|inside| !Lifetimes::of(inside.ty).is_borrowed_object())
    }

    fn source_or_only(&self) -> Option<Inside<'a>> {
        let is_source = |field: &Field| {
            let named = field.ident.as_ref().is_some_and(|name| name == "source");
            let marked = |a: &Attribute| a.path().is_ident("from") || a.path().is_ident("source");
            named || field.attrs.iter().any(marked)
        };
        let source = self.fields.iter().enumerate().find(|(_, field)| is_source(field));
        let only = || self.fields.iter().enumerate().next().filter(|_| self.fields.len() == 1);
        let (index, field) = source.or_else(only)?;
        let member = field.ident.clone().map_or_else(|| index.into(), Member::Named);
        Some(Inside { member, ty: &field.ty })
    }
}

/// The kind that is the name, then the groups, each once.
fn own_kinds<'g>(name: &Ident, groups: impl Iterator<Item = &'g LitStr>) -> Vec<String> {
    let mut kinds = vec![snake_case(&name.unraw().to_string())];
    for group in groups.map(LitStr::value) {
        if !kinds.contains(&group) {
            kinds.push(group);
        }
    }
    kinds
}

/// `T` of an `Option<T>`: a source that may be missing, as `thiserror` reads it too.
pub(super) fn inside_option(ty: &Type) -> Option<&Type> {
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
