//! What `#[tokio::main]` and `#[tokio::test]` make of an async function: a sync one that waits for an
//! async block. Where they stand above our attributes, that is what we are given.

use syn::{Block, Expr, Ident, Pat, Stmt};

/// What stands around the async block.
pub(crate) struct Entry {
    /// What the block's future is called.
    pub(crate) future: Ident,
    /// The statements that wait for it.
    pub(crate) rest: Vec<Stmt>,
}

impl Entry {
    /// Takes the statements out of the async block, if the function is of this shape:
    /// `let body = async { .. }; .. { .. return runtime.block_on(body); }`.
    pub(crate) fn split(block: &Block) -> Option<(Vec<Stmt>, Self)> {
        let [Stmt::Local(local), rest @ ..] = &block.stmts[..] else { return None };
        let Pat::Ident(pattern) = &local.pat else { return None };
        let Expr::Async(future) = &*local.init.as_ref()?.expr else { return None };
        if !future.attrs.is_empty() || !waits_for(rest.last()?, &pattern.ident) {
            return None;
        }
        let entry = Self { future: pattern.ident.clone(), rest: rest.to_vec() };
        Some((future.block.stmts.clone(), entry))
    }
}

fn waits_for(last: &Stmt, future: &Ident) -> bool {
    if let Stmt::Expr(Expr::Block(block), _) = last
        && let Some(Stmt::Expr(Expr::Return(returned), _)) = block.block.stmts.last()
        && let Some(Expr::MethodCall(call)) = returned.expr.as_deref()
    {
        return call.method == "block_on"
            && matches!(call.args.first(), Some(Expr::Path(path)) if path.path.is_ident(future));
    }
    false
}

#[cfg(test)]
mod tests {
    use syn::parse_quote;

    use super::*;

    #[test]
    fn the_async_block_that_a_runtime_waits_for_is_found() {
        let (statements, entry) = Entry::split(&parse_quote!({
            let body = async { pay().await };
            tokio::pin!(body);
            {
                return Builder::new_multi_thread().build().expect("a runtime").block_on(body);
            }
        }))
        .expect("an entry point");
        assert_eq!((statements.len(), entry.rest.len()), (1, 2));
        assert_eq!(entry.future, "body");
    }

    #[test]
    fn a_sync_function_that_waits_for_something_else_is_no_entry_point() {
        for block in [
            parse_quote!({
                let body = async { pay().await };
                {
                    return runtime.block_on(another);
                }
            }),
            parse_quote!({
                let body = async { pay().await };
                check()?;
                runtime.block_on(body)
            }),
            parse_quote!({
                let body = pay();
                {
                    return runtime.block_on(body);
                }
            }),
        ] {
            assert!(Entry::split(&block).is_none());
        }
    }
}
