use resilience_settings::{Key, Type, Value, parse_duration};
use syn::{Expr, ExprArray, ExprLit, Lit};

/// A setting written at an attribute, checked against the table of keys.
pub(crate) struct Inline {
    pub(crate) key: &'static str,
    pub(crate) value: Value,
}

impl Inline {
    /// Checks type and range of what was written for `key`.
    pub(crate) fn check(key: &'static Key, expr: &Expr) -> syn::Result<Self> {
        let value = read(key, expr)?;
        match key.ty.check(value) {
            Ok(value) => Ok(Self { key: key.name, value }),
            Err(_) => Err(expected(key, expr)),
        }
    }
}

fn expected(key: &Key, expr: &Expr) -> syn::Error {
    let form = match (key.ty, expr) {
        (_, Expr::Lit(ExprLit { lit: Lit::Int(n), .. })) if !n.suffix().is_empty() => {
            format!(", without `{}`", n.suffix())
        }
        (Type::Kinds, _) => ", such as [\"timeout\", \"io\"]".to_owned(),
        (Type::Texts { .. }, _) => ", such as [\"eu\", \"us\"]".to_owned(),
        // A text as it should be, but for what it says.
        (_, Expr::Lit(ExprLit { lit: Lit::Str(_), .. })) => String::new(),
        (Type::Duration { .. } | Type::Word(_) | Type::Name, _) => ", as a string".to_owned(),
        _ => String::new(),
    };
    let message = format!("`{}` is {}{form}", key.name, key.ty.allowed());
    syn::Error::new_spanned(expr, message)
}

fn read(key: &Key, expr: &Expr) -> syn::Result<Value> {
    let wrong = || expected(key, expr);
    match (key.ty, expr) {
        (Type::Kinds | Type::Texts { .. }, Expr::Array(ExprArray { elems, .. })) => {
            let list = elems.iter().map(|elem| string(elem).ok_or_else(wrong));
            let list = list.collect::<Result<Vec<String>, _>>()?.into();
            Ok(if let Type::Kinds = key.ty { Value::Kinds(list) } else { Value::Texts(list) })
        }
        (_, Expr::Lit(ExprLit { lit, .. })) => literal(key, lit).ok_or_else(wrong)?,
        (_, Expr::Path(_)) => Err(syn::Error::new_spanned(
            expr,
            format!("`{}` takes a literal: {}", key.name, key.ty.allowed()),
        )),
        _ => Err(wrong()),
    }
}

/// `None` when the literal is of another type; the inner error tells what is wrong with a text.
fn literal(key: &Key, lit: &Lit) -> Option<syn::Result<Value>> {
    Some(Ok(match (key.ty, lit) {
        (Type::Bool, Lit::Bool(b)) => Value::Bool(b.value),
        (Type::Integer { .. } | Type::Counts | Type::Float { .. }, Lit::Int(n))
            if n.suffix().is_empty() =>
        {
            Value::Integer(n.base10_parse().ok()?)
        }
        (Type::Float { .. }, Lit::Float(x)) if x.suffix().is_empty() => {
            Value::Float(x.base10_parse().ok()?)
        }
        (Type::Word(_) | Type::Name, Lit::Str(text)) => Value::Word(text.value()),
        (Type::Duration { .. }, Lit::Str(text)) => match parse_duration(&text.value()) {
            Ok(duration) => Value::Duration(duration),
            Err(error) => {
                let message = format!("`{}` is {}: {error}", key.name, key.ty.allowed());
                return Some(Err(syn::Error::new_spanned(text, message)));
            }
        },
        _ => return None,
    }))
}

fn string(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.value()),
        _ => None,
    }
}
