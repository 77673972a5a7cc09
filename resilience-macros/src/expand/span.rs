use proc_macro2::{Group, Span, TokenStream, TokenTree};

/// Shows errors about these tokens at `span`. Every token is moved: the compiler joins what it is
/// given, and one that stays at the attribute would pull the error there. What a name means stays.
pub(super) fn respan(tokens: TokenStream, span: Span) -> TokenStream {
    tokens
        .into_iter()
        .map(|mut token| {
            if let TokenTree::Group(group) = &token {
                let inner = respan(group.stream(), span);
                token = TokenTree::Group(Group::new(group.delimiter(), inner));
            }
            token.set_span(span.resolved_at(token.span()));
            token
        })
        .collect()
}
