//! Whether a function's value keeps an exclusive reference that came in as an argument: then
//! neither another attempt nor a fallback can have that argument.

use syn::{FnArg, Receiver, ReceiverKind, Signature, Type};

use crate::lifetimes::Lifetimes;

/// Whether a value of type `output` may borrow from an exclusive reference among the arguments, by
/// the rules of lifetime elision.
pub(crate) fn lends_out(signature: &Signature, output: &Type) -> bool {
    let kept = Lifetimes::of(output);
    let receiver = signature.receiver();
    signature.inputs.iter().any(|input| match input {
        FnArg::Receiver(receiver) => {
            exclusive(receiver).is_some_and(|own| kept.elided || share(&kept, &own))
        }
        FnArg::Typed(argument) => {
            let own = Lifetimes::of(&argument.ty);
            // A receiver takes what is elided in the output for itself.
            own.exclusive && ((kept.elided && receiver.is_none()) || share(&kept, &own))
        }
    })
}

fn share(one: &Lifetimes, other: &Lifetimes) -> bool {
    !one.named.is_disjoint(&other.named)
}

/// The lifetimes of an exclusive receiver.
fn exclusive(receiver: &Receiver) -> Option<Lifetimes> {
    match &receiver.kind {
        ReceiverKind::Reference(_, lifetime, Some(_)) => {
            let mut own = Lifetimes::default();
            own.named.extend(lifetime.iter().map(|lifetime| lifetime.ident.to_string()));
            Some(own)
        }
        ReceiverKind::Typed(_, ty) => Some(Lifetimes::of(ty)).filter(|own| own.exclusive),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use syn::parse_quote;

    use super::*;

    fn lends(signature: &Signature) -> bool {
        match &signature.output {
            syn::ReturnType::Type(_, ty) => lends_out(signature, ty),
            syn::ReturnType::Default => false,
        }
    }

    #[test]
    fn what_is_elided_belongs_to_the_receiver_if_there_is_one() {
        assert!(lends(&parse_quote!(fn f(&mut self, b: &u8) -> Result<&u8, E>)));
        assert!(!lends(&parse_quote!(fn f(&self, b: &mut u8) -> Result<&u8, E>)));
        assert!(lends(&parse_quote!(fn f(b: &mut u8) -> Result<Guard<'_>, E>)));
    }

    #[test]
    fn a_named_lifetime_is_kept_if_an_exclusive_reference_has_it() {
        assert!(lends(&parse_quote!(fn f<'a>(&self, b: &'a mut u8) -> Result<&'a u8, E>)));
        assert!(!lends(&parse_quote!(fn f<'a>(&mut self, b: &'a u8) -> Result<&'a u8, E>)));
        assert!(!lends(&parse_quote!(fn f(&mut self) -> Result<&'static u8, E>)));
        assert!(!lends(&parse_quote!(fn f(&mut self) -> Result<u8, E>)));
    }
}
