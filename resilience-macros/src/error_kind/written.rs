use syn::{
    Attribute, LitStr, Path, Token,
    parse::{Parse, ParseStream},
    punctuated::Punctuated,
};

use crate::problems::Problems;

/// What `#[error_kind(..)]` says.
#[derive(Default)]
pub(super) struct Written {
    pub(super) groups: Vec<String>,
    pub(super) krate: Option<Path>,
}

/// A group, or `crate = path`.
enum Entry {
    Group(LitStr),
    Crate(Path),
}

impl Parse for Entry {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        if input.peek(Token![crate]) && input.peek2(Token![=]) {
            input.parse::<Token![crate]>()?;
            input.parse::<Token![=]>()?;
            return input.parse().map(Entry::Crate);
        }
        input.parse().map(Entry::Group).map_err(|error: syn::Error| {
            syn::Error::new(error.span(), "write `#[error_kind(\"group\", ..)]`")
        })
    }
}

impl Written {
    pub(super) fn read(attrs: &[Attribute], problems: &mut Problems) -> Self {
        let mut written = Self::default();
        for attribute in attrs.iter().filter(|a| a.path().is_ident("error_kind")) {
            let entries = attribute.parse_args_with(Punctuated::<_, Token![,]>::parse_terminated);
            for entry in problems.take(entries).into_iter().flatten() {
                match entry {
                    Entry::Crate(path) => written.krate = Some(path),
                    Entry::Group(group) if is_kind(&group.value()) => {
                        written.groups.push(group.value());
                    }
                    Entry::Group(group) => {
                        let message = "a kind is a word in snake_case: `http_5xx`, `out_of_stock`";
                        problems.at(group, message);
                    }
                }
            }
        }
        written
    }
}

fn is_kind(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_lowercase())
        && text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}
