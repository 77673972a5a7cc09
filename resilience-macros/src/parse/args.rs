use proc_macro2::TokenStream;
use syn::{
    Expr, Ident, Lit, LitStr, Token,
    ext::IdentExt,
    parse::{Parse, ParseStream},
    token::Paren,
};

use crate::problems::Problems;

/// The arguments of one attribute, in the order written.
#[derive(Default)]
pub(crate) struct Args {
    pub(crate) named: Vec<Arg>,
    /// Texts without a key, which can only be meant as names.
    pub(crate) bare: Vec<LitStr>,
}

/// `key = value`, or a `key` alone.
pub(crate) struct Arg {
    pub(crate) key: Ident,
    pub(crate) value: ArgValue,
}

pub(crate) enum ArgValue {
    Flag,
    Expr(Expr),
}

impl Args {
    /// Reads the arguments; one that cannot be read does not hide the ones after it.
    pub(crate) fn read(tokens: TokenStream, problems: &mut Problems) -> Self {
        let parser = |input: ParseStream<'_>| {
            let mut args = Self::default();
            while !input.is_empty() {
                if input.peek(LitStr) {
                    args.bare.push(input.parse()?);
                } else {
                    match input.parse() {
                        Ok(arg) => args.named.push(arg),
                        Err(error) => {
                            problems.push(error);
                            skip_to_comma(input)?;
                        }
                    }
                }
                if !input.is_empty()
                    && let Err(error) = input.parse::<Token![,]>()
                {
                    problems.push(error);
                    skip_to_comma(input)?;
                    input.parse::<Option<Token![,]>>()?;
                }
            }
            Ok(args)
        };
        let args = syn::parse::Parser::parse2(parser, tokens);
        problems.take(args).unwrap_or_default()
    }
}

impl Parse for Arg {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        // `type` and `crate` are keywords.
        let key = input.call(Ident::parse_any)?;
        let has_value = input.parse::<Option<Token![=]>>()?.is_some();
        let lacks_value = has_value && (input.is_empty() || input.peek(Token![,]));
        let has_other_sign = input.peek(Token![:]) || input.peek(Paren) || input.peek(Lit);
        let value = if lacks_value || (!has_value && has_other_sign) {
            return Err(syn::Error::new(key.span(), format!("`{key}` needs a value: `{key} = …`")));
        } else if !has_value {
            ArgValue::Flag
        } else {
            ArgValue::Expr(ungrouped(input.parse()?))
        };
        Ok(Self { key, value })
    }
}

/// What a `macro_rules!` fragment such as `$path` stands for: it comes in an invisible group.
fn ungrouped(expr: Expr) -> Expr {
    match expr {
        Expr::Group(group) => ungrouped(*group.expr),
        other => other,
    }
}

fn skip_to_comma(input: ParseStream<'_>) -> syn::Result<()> {
    while !input.is_empty() && !input.peek(Token![,]) {
        input.parse::<proc_macro2::TokenTree>()?;
    }
    Ok(())
}
