use quote::quote;
use syn::{
    AngleBracketedGenericArguments, GenericArgument, PathArguments, ReturnType, Type,
    TypeParamBound, TypePath, parse_quote,
    punctuated::Punctuated,
    visit_mut::{self, VisitMut},
};

/// How a function that is not async returns its future.
pub(crate) enum Future {
    /// `impl Future<Output = R>`
    Opaque(Type),
    /// `Pin<Box<dyn Future<Output = R>>>`, or an alias that ends in `BoxFuture<.., R>`
    Boxed(Type),
}

/// The future that a return type names, if it names one.
pub(crate) fn future(ty: &Type) -> Option<Future> {
    match ty {
        Type::ImplTrait(opaque) => output(&opaque.bounds).map(Future::Opaque),
        Type::Path(TypePath { path, .. }) => {
            let last = path.segments.last()?;
            let PathArguments::AngleBracketed(arguments) = &last.arguments else { return None };
            let name = last.ident.to_string();
            if name.ends_with("BoxFuture") {
                return types(arguments).last().cloned().map(Future::Boxed);
            }
            let boxed = (name == "Pin").then(|| types(arguments).next())??;
            let Type::Path(TypePath { path, .. }) = boxed else { return None };
            let last = path.segments.last().filter(|last| last.ident == "Box")?;
            let PathArguments::AngleBracketed(arguments) = &last.arguments else { return None };
            match types(arguments).next()? {
                Type::TraitObject(object) => output(&object.bounds).map(Future::Boxed),
                _ => None,
            }
        }
        _ => None,
    }
}

fn types(arguments: &AngleBracketedGenericArguments) -> impl Iterator<Item = &Type> {
    arguments.args.iter().filter_map(|argument| match argument {
        GenericArgument::Type(ty) => Some(ty),
        _ => None,
    })
}

/// `R` of `Future<Output = R>` among bounds.
fn output<P>(bounds: &Punctuated<TypeParamBound, P>) -> Option<Type> {
    bounds.iter().find_map(|bound| {
        let TypeParamBound::Trait(bound) = bound else { return None };
        let PathArguments::AngleBracketed(arguments) = &bound.path.segments.last()?.arguments
        else {
            return None;
        };
        arguments.args.iter().find_map(|argument| match argument {
            GenericArgument::AssocType(assoc) if assoc.ident == "Output" => Some(assoc.ty.clone()),
            _ => None,
        })
    })
}

/// Why a return type cannot be a `Result`, as far as tokens tell: others may be aliases.
pub(crate) fn not_a_result(output: &Type) -> bool {
    match output {
        Type::Tuple(_)
        | Type::Reference(_)
        | Type::Array(_)
        | Type::Slice(_)
        | Type::Never(_)
        | Type::Ptr(_)
        | Type::ImplTrait(_)
        | Type::TraitObject(_) => true,
        Type::Path(TypePath { qself: None, path, .. }) => {
            path.segments.last().is_some_and(|last| {
                const NEVER: &[&str] = &[
                    "bool", "char", "f32", "f64", "i128", "i16", "i32", "i64", "i8", "isize",
                    "str", "u128", "u16", "u32", "u64", "u8", "usize", "String", "Vec", "Option",
                ];
                NEVER.iter().any(|name| last.ident == name)
            })
        }
        _ => false,
    }
}

/// The type as it can be written inside the function: `impl Trait` is left to inference.
pub(crate) fn nameable(ty: &Type) -> Type {
    without_opaque(ty, &parse_quote!(_))
}

/// The type as far as it says which error there is: every value will do.
pub(crate) fn with_any_value(ty: &Type) -> Type {
    without_opaque(ty, &parse_quote!(()))
}

fn without_opaque(ty: &Type, substitute: &Type) -> Type {
    struct Erase<'a>(&'a Type);
    impl VisitMut for Erase<'_> {
        fn visit_type_mut(&mut self, ty: &mut Type) {
            if let Type::ImplTrait(_) = ty {
                *ty = self.0.clone();
            } else {
                visit_mut::visit_type_mut(self, ty);
            }
        }
    }
    let mut ty = ty.clone();
    Erase(substitute).visit_type_mut(&mut ty);
    ty
}

/// `E` of a `Result<T, E>` that is written out.
pub(crate) fn error(output: &Type) -> Option<&Type> {
    let Type::Path(TypePath { path, .. }) = output else { return None };
    match &path.segments.last()?.arguments {
        PathArguments::AngleBracketed(arguments) => types(arguments).nth(1),
        _ => None,
    }
}

/// The declared return type; `()` where none is written.
pub(crate) fn declared(output: &ReturnType) -> Type {
    match output {
        ReturnType::Default => parse_quote!(()),
        ReturnType::Type(_, ty) => ungrouped(ty).clone(),
    }
}

/// The type inside parentheses, and inside the invisible group of a `macro_rules!` fragment.
fn ungrouped(ty: &Type) -> &Type {
    match ty {
        Type::Group(group) => ungrouped(&group.elem),
        Type::Paren(paren) => ungrouped(&paren.elem),
        other => other,
    }
}

/// What a future of this type resolves to, by projection.
pub(crate) fn projected(ty: &Type) -> Type {
    let projection = quote!(<#ty as ::core::future::Future>::Output);
    Type::Verbatim(projection)
}

#[cfg(test)]
mod tests {
    use quote::ToTokens;

    use super::*;

    fn shown(ty: &Type) -> Option<String> {
        match future(ty)? {
            Future::Opaque(ty) => Some(format!("opaque {}", ty.to_token_stream())),
            Future::Boxed(ty) => Some(format!("boxed {}", ty.to_token_stream())),
        }
    }

    #[test]
    fn futures_are_recognised_by_what_they_resolve_to() {
        for (ty, expected) in [
            (parse_quote!(impl Future<Output = R> + Send + '_), Some("opaque R")),
            (parse_quote!(impl std::future::Future<Output = R>), Some("opaque R")),
            (parse_quote!(Pin<Box<dyn Future<Output = R> + Send + 'a>>), Some("boxed R")),
            (parse_quote!(::core::pin::Pin<Box<dyn Future<Output = R>>>), Some("boxed R")),
            (parse_quote!(futures::future::BoxFuture<'a, R>), Some("boxed R")),
            (parse_quote!(LocalBoxFuture<'_, R>), Some("boxed R")),
            (parse_quote!(Result<T, E>), None),
            (parse_quote!(impl Display), None),
        ] {
            assert_eq!(shown(&ty).as_deref(), expected);
        }
    }
}
