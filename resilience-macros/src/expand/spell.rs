use proc_macro2::{Delimiter, Spacing, TokenStream, TokenTree};

/// Tokens as somebody would write them; the compiler's own text has spaces between all of them.
pub(super) fn spell(tokens: TokenStream) -> String {
    let mut text = String::new();
    write(tokens, &mut text);
    text.trim_end().to_owned()
}

fn write(tokens: TokenStream, text: &mut String) {
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Group(group) => {
                let (open, close) = match group.delimiter() {
                    Delimiter::Parenthesis => ("(", ")"),
                    Delimiter::Bracket => ("[", "]"),
                    Delimiter::Brace => ("{", "}"),
                    Delimiter::None => ("", ""),
                };
                if text.ends_with("mut") {
                    text.push(' ');
                }
                text.push_str(open);
                write(group.stream(), text);
                text.push_str(close);
            }
            TokenTree::Punct(punct) => match punct.as_char() {
                ':' if punct.spacing() == Spacing::Joint => {
                    tokens.next();
                    text.push_str("::");
                }
                '-' if punct.spacing() == Spacing::Joint => {
                    tokens.next();
                    text.push_str(" -> ");
                }
                mark @ (',' | ':' | ';') => text.extend([mark, ' ']),
                mark @ ('+' | '=') => text.extend([' ', mark, ' ']),
                mark => text.push(mark),
            },
            word => {
                if text.ends_with(|c: char| c.is_alphanumeric() || c == '_') {
                    text.push(' ');
                }
                text.push_str(&word.to_string());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_and_arguments_are_spelt_as_they_are_written() {
        for text in [
            "Result<u32, std::io::Error>",
            "&'a mut [u8; 4]",
            "(a, b): (&str, &mut (u8, u8))",
            "Box<dyn Error + Send + 'static>",
            "impl Fn(u8) -> Option<u8>",
            "<T as Future<Output = u8>>::Output",
        ] {
            let tokens: TokenStream = text.parse().expect("tokens");
            assert_eq!(spell(tokens), text);
        }
    }
}
