use std::collections::HashSet;

use syn::{Lifetime, Type, TypeReference, TypeTraitObject, visit, visit::Visit};

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
}

impl Lifetimes {
    pub(crate) fn of(ty: &Type) -> Self {
        let mut lifetimes = Self::default();
        lifetimes.visit_type(ty);
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
            self.elided = true;
        } else if lifetime.ident != "static" {
            self.named.insert(lifetime.ident.to_string());
        }
    }

    fn visit_type_trait_object(&mut self, object: &'ast TypeTraitObject) {
        self.object = true;
        visit::visit_type_trait_object(self, object);
    }

    fn visit_type_reference(&mut self, reference: &'ast TypeReference) {
        self.elided |= reference.lifetime.is_none();
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
}
