use std::collections::HashSet;

use syn::{
    BoundLifetimes, GenericParam, Lifetime, ParenthesizedGenericArguments, Type, TypeFnPtr,
    TypeReference, TypeTraitObject, visit, visit::Visit,
};

/// The lifetimes that a type mentions, as far as tokens tell.
#[derive(Default)]
pub(crate) struct Lifetimes {
    /// Lifetimes with a name, `'static` aside.
    pub(crate) named: HashSet<String>,
    /// Whether one is left out, or is `'_`.
    pub(crate) elided: bool,
    /// Whether there is a `&mut` among the references.
    pub(crate) exclusive: bool,
    /// Whether there is a `dyn Trait`.
    object: bool,
    /// Lifetimes that `for<..>` introduces, which stand for every lifetime and borrow from nothing.
    bound: HashSet<String>,
    /// How many signatures such as that of `Fn(&str)` are around: what they leave out is bound too.
    signatures: usize,
}

impl Lifetimes {
    pub(crate) fn of(ty: &Type) -> Self {
        let mut lifetimes = Self::default();
        lifetimes.visit_type(ty);
        lifetimes.named.retain(|name| !lifetimes.bound.contains(name));
        lifetimes
    }

    /// Whether the type may be a trait object that borrows: an error of such a type cannot be looked
    /// into, and method resolution, which knows no lifetimes, would not see that.
    pub(crate) fn is_borrowed_object(&self) -> bool {
        self.object && self.may_borrow()
    }

    /// Whether a value of the type may borrow from something that does not live for ever.
    pub(crate) fn may_borrow(&self) -> bool {
        self.elided || !self.named.is_empty()
    }
}

impl<'ast> Visit<'ast> for Lifetimes {
    fn visit_lifetime(&mut self, lifetime: &'ast Lifetime) {
        if lifetime.ident == "_" {
            self.elided |= self.signatures == 0;
        } else if lifetime.ident != "static" {
            self.named.insert(lifetime.ident.to_string());
        }
    }

    fn visit_bound_lifetimes(&mut self, bound: &'ast BoundLifetimes) {
        let names = bound.lifetimes.iter().filter_map(|parameter| match parameter {
            GenericParam::Lifetime(introduced) => Some(introduced.lifetime.ident.to_string()),
            _ => None,
        });
        self.bound.extend(names);
    }

    fn visit_parenthesized_generic_arguments(
        &mut self,
        signature: &'ast ParenthesizedGenericArguments,
    ) {
        self.signatures += 1;
        visit::visit_parenthesized_generic_arguments(self, signature);
        self.signatures -= 1;
    }

    fn visit_type_fn_ptr(&mut self, signature: &'ast TypeFnPtr) {
        self.signatures += 1;
        visit::visit_type_fn_ptr(self, signature);
        self.signatures -= 1;
    }

    fn visit_type_trait_object(&mut self, object: &'ast TypeTraitObject) {
        self.object = true;
        visit::visit_type_trait_object(self, object);
    }

    fn visit_type_reference(&mut self, reference: &'ast TypeReference) {
        self.elided |= reference.lifetime.is_none() && self.signatures == 0;
        self.exclusive |= reference.mutability.is_some();
        visit::visit_type_reference(self, reference);
    }
}

#[cfg(test)]
mod tests {
    use syn::parse_quote;

    use super::*;

    #[test]
    fn a_type_may_borrow_unless_all_its_lifetimes_are_static() {
        let may_borrow = |ty: Type| Lifetimes::of(&ty).may_borrow();
        assert!(may_borrow(parse_quote!(Result<&str, E>)));
        assert!(may_borrow(parse_quote!(Result<Guard<'_>, E>)));
        assert!(may_borrow(parse_quote!(Vec<Cow<'a, str>>)));
        assert!(!may_borrow(parse_quote!(Result<&'static str, E>)));
    }

    #[test]
    fn what_a_signature_lends_for_a_call_is_not_kept() {
        let may_borrow = |ty: Type| Lifetimes::of(&ty).may_borrow();
        assert!(!may_borrow(parse_quote!(Box<dyn Fn(&str) -> Guard<'_> + Send>)));
        assert!(!may_borrow(parse_quote!(impl for<'a> Fn(&'a str, Row<'a>) -> u8)));
        assert!(!may_borrow(parse_quote!(for<'a> fn(&'a str) -> &'a str)));
        assert!(!may_borrow(parse_quote!(fn(&str) -> &str)));
        assert!(may_borrow(parse_quote!(Box<dyn Fn(&str) -> &'a str>)));
        assert!(may_borrow(parse_quote!(Box<dyn Fn(&str) + '_>)));
        assert!(may_borrow(parse_quote!((fn(&str), &str))));
    }
}
