use quote::{ToTokens, quote};
use syn::{
    Block, Expr, ExprAsync, ExprReturn, Item, Stmt, Token,
    visit_mut::{self, VisitMut},
};

use super::Names;

/// What one attempt runs.
pub(crate) enum Body {
    /// Statements of an async block.
    Statements(Vec<Stmt>),
    /// A block that makes a future, with whether it returns from its middle.
    MakesFuture { block: Block, returns: bool },
}

impl Body {
    /// The body of a function that returns a future: the statements inside its one async block,
    /// where it is that simple, so that no second future is wrapped around it.
    pub(crate) fn of_future(mut block: Block) -> Self {
        if let [Stmt::Expr(expr, None)] = &mut block.stmts[..]
            && let Some(inner) = async_block(expr)
        {
            return Body::Statements(std::mem::take(&mut inner.block.stmts));
        }
        let mut finder = FindReturn(false);
        finder.visit_block_mut(&mut block);
        Body::MakesFuture { block, returns: finder.0 }
    }

    /// What it uses.
    pub(crate) fn names(&self) -> Names {
        Names::of(match self {
            Body::Statements(statements) => quote!(#(#statements)*),
            Body::MakesFuture { block, .. } => block.to_token_stream(),
        })
    }

    /// Lets every attempt have its own reborrow of `&mut self` where the body moves it.
    pub(crate) fn reborrow_self(&mut self) {
        match self {
            Body::Statements(statements) => {
                for statement in statements {
                    Reborrow.visit_stmt_mut(statement);
                }
            }
            Body::MakesFuture { block, .. } => Reborrow.visit_block_mut(block),
        }
    }
}

/// `async {}`, `Box::pin(async {})` and `async {}.boxed()`, none of them with attributes.
fn async_block(expr: &mut Expr) -> Option<&mut ExprAsync> {
    match expr {
        Expr::Async(block) if block.attrs.is_empty() => Some(block),
        Expr::Call(call) if is_box_pin(&call.func) && call.args.len() == 1 => {
            call.args.first_mut().and_then(async_block)
        }
        Expr::MethodCall(call) if is_boxed(call) => async_block(&mut call.receiver),
        _ => None,
    }
}

/// Whether the block's last expression is a box around a future.
pub(crate) fn ends_boxed(block: &Block) -> bool {
    match block.stmts.last() {
        Some(Stmt::Expr(Expr::Call(call), None)) => is_box_pin(&call.func),
        Some(Stmt::Expr(Expr::MethodCall(call), None)) => is_boxed(call),
        _ => false,
    }
}

fn is_box_pin(function: &Expr) -> bool {
    let Expr::Path(path) = function else { return false };
    let mut segments = path.path.segments.iter().rev();
    segments.next().is_some_and(|last| last.ident == "pin")
        && segments.next().is_some_and(|before| before.ident == "Box")
}

fn is_boxed(call: &syn::ExprMethodCall) -> bool {
    (call.method == "boxed" || call.method == "boxed_local") && call.args.is_empty()
}

struct FindReturn(bool);

impl VisitMut for FindReturn {
    fn visit_expr_return_mut(&mut self, _: &mut ExprReturn) {
        self.0 = true;
    }

    // These have returns of their own.
    fn visit_expr_closure_mut(&mut self, _: &mut syn::ExprClosure) {}
    fn visit_expr_async_mut(&mut self, _: &mut ExprAsync) {}
    fn visit_item_mut(&mut self, _: &mut Item) {}
}

/// Writes `&mut *self` for a `self` that would be moved away.
struct Reborrow;

impl Reborrow {
    /// Visits an operand that is borrowed or copied where it stands, never moved.
    fn place(&mut self, expr: &mut Expr) {
        if !is_self(expr) {
            self.visit_expr_mut(expr);
        }
    }
}

impl VisitMut for Reborrow {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        match expr {
            Expr::Field(field) => self.place(&mut field.base),
            Expr::Index(index) => {
                self.place(&mut index.expr);
                self.visit_expr_mut(&mut index.index);
            }
            Expr::MethodCall(call) => {
                self.place(&mut call.receiver);
                for argument in &mut call.args {
                    self.visit_expr_mut(argument);
                }
            }
            Expr::Unary(unary) if matches!(unary.op, syn::UnOp::Deref(_)) => {
                self.place(&mut unary.expr);
            }
            Expr::Reference(reference) => self.place(&mut reference.expr),
            moved if is_self(moved) => {
                let this = moved.clone();
                let star = Token![*](proc_macro2::Span::mixed_site());
                *moved = syn::parse_quote!(&mut #star #this);
            }
            other => visit_mut::visit_expr_mut(self, other),
        }
    }

    // A function in the body has a `self` of its own.
    fn visit_item_mut(&mut self, _: &mut Item) {}
}

pub(super) fn is_self(expr: &Expr) -> bool {
    matches!(expr, Expr::Path(path) if path.qself.is_none() && path.path.is_ident("self"))
}

#[cfg(test)]
mod tests {
    use syn::parse_quote;

    use super::*;

    fn reborrowed(mut expr: Expr) -> String {
        Reborrow.visit_expr_mut(&mut expr);
        expr.into_token_stream().to_string().replace(' ', "")
    }

    #[test]
    fn a_moved_self_is_reborrowed() {
        assert_eq!(reborrowed(parse_quote!(f(self, self.x))), "f(&mut*self,self.x)");
        assert_eq!(
            reborrowed(parse_quote!({
                let this = self;
            })),
            "{letthis=&mut*self;}"
        );
    }

    #[test]
    fn a_borrowed_self_stays_as_it_is() {
        for text in ["self.go(1)", "self.a.b", "&self", "*self", "self[0]", "format!(\"{self}\")"] {
            let expr = syn::parse_str(text).expect("an expression");
            assert_eq!(reborrowed(expr), text.replace(' ', ""));
        }
    }

    #[test]
    fn the_future_inside_a_box_is_unwrapped() {
        for block in [
            parse_quote!({ async { 1 } }),
            parse_quote!({ Box::pin(async move { 1 }) }),
            parse_quote!({ ::std::boxed::Box::pin(async move { 1 }) }),
            parse_quote!({ async move { 1 }.boxed() }),
        ] {
            assert!(matches!(Body::of_future(block), Body::Statements(s) if s.len() == 1));
        }
    }

    #[test]
    fn a_return_counts_only_outside_of_closures_and_async_blocks() {
        let returns = |block| match Body::of_future(block) {
            Body::MakesFuture { returns, .. } => returns,
            Body::Statements(_) => panic!("more than an async block"),
        };
        assert!(returns(parse_quote!({
            if a {
                return b;
            }
            c
        })));
        assert!(!returns(parse_quote!({
            let f = || {
                return 1;
            };
            async {
                return 2;
            };
            f
        })));
    }
}
