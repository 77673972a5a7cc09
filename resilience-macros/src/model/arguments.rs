use proc_macro2::Span;
use quote::format_ident;
use syn::{
    Attribute, FnArg, Ident, Pat, PatIdent, PatType, ReceiverKind, Signature, Token, Type,
    spanned::Spanned,
};

/// How often a value can be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Passing {
    /// A shared reference: every attempt copies it.
    Shared,
    /// An exclusive reference: every attempt reborrows it.
    Exclusive,
    /// Anything else: it waits in a slot.
    Owned,
}

impl Passing {
    fn of(ty: &Type) -> Self {
        match ty {
            Type::Reference(reference) if reference.mutability.is_some() => Passing::Exclusive,
            Type::Reference(_) => Passing::Shared,
            Type::Paren(paren) => Passing::of(&paren.elem),
            Type::Group(group) => Passing::of(&group.elem),
            _ => Passing::Owned,
        }
    }
}

/// `self`, in whatever form.
pub(crate) struct Receiver {
    pub(crate) passing: Passing,
    /// The user's own `self`: one written by a macro would be another variable.
    pub(crate) token: Token![self],
}

/// An argument other than `self`.
pub(crate) struct Argument {
    /// What the composed function calls it.
    pub(crate) name: Ident,
    /// What the body calls it.
    pub(crate) pattern: Pat,
    pub(crate) passing: Passing,
    /// Where errors about it are shown.
    pub(crate) span: Span,
    /// The slot that keeps it between attempts, if it is owned.
    pub(crate) slot: Ident,
    /// `#[cfg]`s, which must stand on everything made for this argument.
    pub(crate) cfgs: Vec<Attribute>,
    /// These and the levels of lints, which must stand where the body's name for it is bound.
    pub(crate) attrs: Vec<Attribute>,
}

impl Argument {
    /// Whether the body's name for it is the composed function's.
    pub(crate) fn keeps_its_name(&self) -> bool {
        matches!(&self.pattern, Pat::Ident(pattern)
            if pattern.ident == self.name && pattern.mutability.is_none())
    }
}

/// Takes the arguments out of a signature and leaves plain names there, so that the composed
/// function can pass them on.
pub(crate) fn take(signature: &mut Signature) -> (Option<Receiver>, Vec<Argument>) {
    let mut receiver = None;
    let mut arguments = Vec::new();
    for input in &mut signature.inputs {
        match input {
            FnArg::Receiver(written) => {
                let passing = match &written.kind {
                    ReceiverKind::Reference(_, _, Some(_)) => Passing::Exclusive,
                    ReceiverKind::Reference(_, _, None) => Passing::Shared,
                    ReceiverKind::Typed(_, ty) => Passing::of(ty),
                    _ => Passing::Owned,
                };
                receiver = Some(Receiver { passing, token: written.self_token });
            }
            FnArg::Typed(written) => arguments.push(argument(arguments.len(), written)),
        }
    }
    (receiver, arguments)
}

fn argument(index: usize, written: &mut PatType) -> Argument {
    let span = written.ty.span();
    let name = match &*written.pat {
        Pat::Ident(PatIdent { by_ref: None, subpat: None, ident, .. }) => ident.clone(),
        _ => format_ident!("__resilience_arg{index}", span = Span::mixed_site()),
    };
    let plain = PatIdent {
        attrs: Vec::new(),
        by_ref: None,
        mutability: None,
        ident: name.clone(),
        subpat: None,
    };
    let pattern = std::mem::replace(&mut *written.pat, Pat::Ident(plain));
    Argument {
        name,
        pattern,
        passing: Passing::of(&written.ty),
        span,
        slot: format_ident!("__resilience_slot{index}", span = Span::mixed_site()),
        cfgs: with_path(&written.attrs, &["cfg"]),
        attrs: with_path(
            &written.attrs,
            &["cfg", "cfg_attr", "allow", "expect", "warn", "deny", "forbid"],
        ),
    }
}

fn with_path(attrs: &[Attribute], paths: &[&str]) -> Vec<Attribute> {
    let wanted = |attr: &&Attribute| paths.iter().any(|path| attr.path().is_ident(path));
    attrs.iter().filter(wanted).cloned().collect()
}
