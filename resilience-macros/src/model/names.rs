use std::collections::HashSet;

use proc_macro2::{TokenStream, TokenTree};
use syn::{
    Ident, Pat, PatIdent,
    visit::{self, Visit},
};

/// The names that some code uses, as far as tokens tell: maybe some more, never fewer.
pub(crate) struct Names(HashSet<String>);

impl Names {
    pub(crate) fn of(tokens: TokenStream) -> Self {
        let mut names = Self(HashSet::new());
        names.collect(tokens);
        names
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.contains(name)
    }

    /// The variables of a pattern that the code uses.
    pub(crate) fn bound_by(&self, pattern: &Pat) -> Vec<Ident> {
        let mut variables = Variables::default();
        variables.visit_pat(pattern);
        variables.0.retain(|variable| self.has(&variable.to_string()));
        variables.0
    }

    fn collect(&mut self, tokens: TokenStream) {
        let mut before = [' '; 2];
        for token in tokens {
            // `.name` is a field or a method, but not `..name`; `'name` is a lifetime or a label.
            let is_variable = match before {
                [first, '.'] => first == '.',
                [_, last] => last != '\'',
            };
            let mut mark = ' ';
            match token {
                TokenTree::Ident(name) if is_variable => {
                    self.0.insert(name.to_string());
                }
                TokenTree::Ident(_) => {}
                TokenTree::Punct(punct) => mark = punct.as_char(),
                TokenTree::Literal(literal) => self.collect_placeholders(&literal.to_string()),
                TokenTree::Group(group) => self.collect(group.stream()),
            }
            before = [before[1], mark];
        }
    }

    /// `x` of `"{x}"`, `"{x:?}"` and `"{:x$}"`.
    fn collect_placeholders(&mut self, text: &str) {
        if text.contains('{') {
            let words = text.split(|c: char| c != '_' && !c.is_alphanumeric());
            self.0.extend(words.flat_map(|word| [word.to_owned(), format!("r#{word}")]));
        }
    }
}

#[derive(Default)]
struct Variables(Vec<Ident>);

impl<'ast> Visit<'ast> for Variables {
    fn visit_pat_ident(&mut self, pattern: &'ast PatIdent) {
        self.0.push(pattern.ident.clone());
        visit::visit_pat_ident(self, pattern);
    }
}

#[cfg(test)]
mod tests {
    use quote::quote;
    use syn::{parse::Parser, parse_quote};

    use super::*;

    fn has(code: TokenStream, name: &str) -> bool {
        Names::of(code).has(name)
    }

    #[test]
    fn a_name_is_found_wherever_code_uses_it() {
        for code in [
            quote!(x.len()),
            quote!(f(a, |b| b + x)),
            quote!(Order { x }),
            quote!(0..x),
            quote!(format!("{x:?}")),
            quote!(format!("{:x$}", a)),
        ] {
            assert!(has(code.clone(), "x"), "{code}");
        }
        assert!(has(quote!(log!("{type}")), "r#type"));
    }

    #[test]
    fn what_is_called_alike_is_something_else() {
        for code in [quote!(self.x), quote!(a.x()), quote!('x: loop {}), quote!("x"), quote!(xx)] {
            assert!(!has(code.clone(), "x"), "{code}");
        }
    }

    #[test]
    fn of_a_pattern_those_variables_count_that_are_used() {
        let names = Names::of(quote!(a + c.0));
        let pattern: Pat =
            Pat::parse_single.parse2(quote!((mut a, Row { b, id: c, .. }, _))).unwrap();
        assert_eq!(names.bound_by(&pattern), [parse_quote!(a), parse_quote!(c)] as [Ident; 2]);
    }
}
