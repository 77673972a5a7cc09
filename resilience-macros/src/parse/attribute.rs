use proc_macro2::{Span, TokenStream};
use quote::ToTokens;
use resilience_settings::Pattern;
use syn::{
    Attribute, Expr, ExprLit, Lit, Meta, Token,
    parse::{ParseStream, Parser},
    punctuated::Punctuated,
    spanned::Spanned,
};

/// One of our attributes as it stands above a function.
pub(crate) struct Written {
    pub(crate) pattern: Pattern,
    pub(crate) span: Span,
    pub(crate) args: TokenStream,
}

impl Written {
    /// Reads a sibling of the attribute that expands.
    pub(crate) fn from_sibling(attribute: &Attribute) -> Option<syn::Result<Self>> {
        let pattern = pattern_of(&attribute.meta)?;
        let args = match &attribute.meta {
            Meta::Path(_) => Ok(TokenStream::new()),
            Meta::List(list) => Ok(list.tokens.clone()),
            Meta::NameValue(pair) => {
                let value = match &pair.value {
                    Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => {
                        format!("name = {}", text.to_token_stream())
                    }
                    _ => "key = value".to_owned(),
                };
                let message = format!("write `#[{}({value})]`", pattern.attribute());
                Err(syn::Error::new_spanned(pair, message))
            }
        };
        let span = attribute.path().span();
        Some(args.map(|args| Self { pattern, span, args }))
    }
}

/// The attributes in front of something, and the rest of it; no attributes if they cannot be read.
pub(crate) fn outer_attributes(tokens: TokenStream) -> (Vec<Attribute>, TokenStream) {
    let parser = |input: ParseStream<'_>| {
        Ok((input.call(Attribute::parse_outer)?, input.parse::<TokenStream>()?))
    };
    parser.parse2(tokens.clone()).unwrap_or_else(|_| (Vec::new(), tokens))
}

/// The pattern whose attribute this is, by the last segment of its path.
pub(crate) fn pattern_of(meta: &Meta) -> Option<Pattern> {
    let last = &meta.path().segments.last()?.ident;
    Pattern::ALL.iter().copied().find(|pattern| last == pattern.attribute())
}

/// Whether this is the mark that an expansion leaves below all other attributes.
pub(crate) fn is_marker(attribute: &Attribute) -> bool {
    attribute.path().segments.last().is_some_and(|last| last.ident == "__resilience_composed")
}

/// Whether this is a `cfg_attr` with one of our attributes in it.
pub(crate) fn hides_ours(attribute: &Attribute) -> bool {
    meta_hides_ours(&attribute.meta)
}

fn meta_hides_ours(meta: &Meta) -> bool {
    let Meta::List(list) = meta else { return false };
    if !list.path.is_ident("cfg_attr") {
        return false;
    }
    // The first entry is the predicate. What cannot be read is left for the compiler to report.
    Punctuated::<Meta, Token![,]>::parse_terminated.parse2(list.tokens.clone()).is_ok_and(|metas| {
        metas.iter().skip(1).any(|meta| pattern_of(meta).is_some() || meta_hides_ours(meta))
    })
}
