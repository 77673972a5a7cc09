use syn::{
    Attribute, Ident, LitStr, Path, Token,
    parse::{Parse, ParseStream},
    punctuated::Punctuated,
};

use crate::problems::Problems;

/// What `#[error_kind(..)]` says.
#[derive(Default)]
pub(super) struct Written {
    pub(super) groups: Vec<LitStr>,
    /// `from`: the kinds are those of the field.
    pub(super) from: Option<Ident>,
    pub(super) krate: Option<Path>,
}

/// A group, `from`, or `crate = path`.
enum Entry {
    Group(LitStr),
    From(Ident),
    Crate(Path),
}

impl Parse for Entry {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        if input.peek(Token![crate]) && input.peek2(Token![=]) {
            input.parse::<Token![crate]>()?;
            input.parse::<Token![=]>()?;
            return input.parse().map(Entry::Crate);
        }
        let fork = input.fork();
        if fork.parse::<Ident>().is_ok_and(|word| word == "from") {
            return input.parse().map(Entry::From);
        }
        input.parse().map(Entry::Group).map_err(|error: syn::Error| {
            let message = "write `#[error_kind(\"group\", ..)]` or `#[error_kind(from)]`";
            syn::Error::new(error.span(), message)
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
                    Entry::From(word) => written.from = Some(word),
                    Entry::Group(group) if is_kind(&group.value()) => written.groups.push(group),
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
