//! Calls that stop the thread, as far as tokens tell: only what can mean nothing else counts.

use proc_macro2::Span;
use quote::ToTokens;
use syn::{
    Attribute, Expr, ExprAsync, ExprAwait, ExprCall, ExprClosure, Item, Meta, Path, Stmt,
    visit::{self, Visit},
};

use super::{Body, Names};
use crate::parse::outer_attributes;

/// A call in a body that no time limit can end.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BlockingCall {
    pub(crate) span: Span,
    pub(crate) what: &'static str,
    pub(crate) instead: &'static str,
}

/// The blocking calls that the body itself makes. Closures may run on another thread, as those for
/// `spawn_blocking` do, and so may async blocks that nobody awaits on the spot.
pub(crate) fn calls(body: &Body) -> Vec<BlockingCall> {
    let mut finder = Finder { calls: Vec::new(), enters_async: false };
    match body {
        Body::Statements(statements) => {
            for statement in statements {
                finder.visit_stmt(statement);
            }
        }
        Body::MakesFuture { block, .. } => {
            finder.enters_async = true;
            finder.visit_block(block);
        }
    }
    finder.calls
}

struct Finder {
    calls: Vec<BlockingCall>,
    /// Whether an async block may be the body's own future.
    enters_async: bool,
}

impl<'ast> Visit<'ast> for Finder {
    fn visit_stmt(&mut self, statement: &'ast Stmt) {
        // One that is there for some builds only may not be there in this one.
        let (attributes, _) = outer_attributes(statement.to_token_stream());
        if !attributes.iter().any(|attribute| is_cfg(attribute) || allows_warnings(attribute)) {
            visit::visit_stmt(self, statement);
        }
    }

    fn visit_expr_call(&mut self, call: &'ast ExprCall) {
        if let Expr::Path(function) = &*call.func {
            self.calls.extend(blocking(&function.path));
        }
        visit::visit_expr_call(self, call);
    }

    fn visit_expr_await(&mut self, awaited: &'ast ExprAwait) {
        match &*awaited.base {
            Expr::Async(block) => visit::visit_expr_async(self, block),
            // What makes a future does not block, whatever it is called like.
            Expr::Call(call) => call.args.iter().for_each(|argument| self.visit_expr(argument)),
            other => self.visit_expr(other),
        }
    }

    fn visit_expr_async(&mut self, block: &'ast ExprAsync) {
        if self.enters_async {
            visit::visit_expr_async(self, block);
        }
    }

    fn visit_expr_closure(&mut self, _: &'ast ExprClosure) {}

    fn visit_item(&mut self, _: &'ast Item) {}
}

/// A bare `sleep` may be tokio's.
fn blocking(function: &Path) -> Option<BlockingCall> {
    let names: Vec<String> =
        function.segments.iter().map(|segment| segment.ident.to_string()).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let (index, what, instead) = match names[..] {
        ["std", "thread", "sleep"] | ["thread", "sleep"] => {
            (names.len() - 1, "thread::sleep", "`tokio::time::sleep(..).await`")
        }
        ["reqwest", "blocking", ..] => (1, "reqwest::blocking", "`reqwest::Client` and `.await`"),
        _ => return None,
    };
    Some(BlockingCall { span: function.segments[index].ident.span(), what, instead })
}

fn is_cfg(attribute: &Attribute) -> bool {
    attribute.path().is_ident("cfg")
}

/// Ours are warnings about something deprecated.
fn allows_warnings(attribute: &Attribute) -> bool {
    matches!(&attribute.meta, Meta::List(list)
        if list.path.is_ident("allow") && Names::of(list.tokens.clone()).has("deprecated"))
}

#[cfg(test)]
mod tests {
    use syn::{Block, parse_quote};

    use super::*;

    fn found(block: Block) -> Vec<&'static str> {
        calls(&Body::Statements(block.stmts)).into_iter().map(|call| call.what).collect()
    }

    #[test]
    fn calls_that_stop_the_thread_are_found_wherever_the_body_makes_them() {
        assert_eq!(
            found(parse_quote!({
                if late {
                    std::thread::sleep(WAIT);
                }
                let page = reqwest::blocking::Client::new().get(url).send()?;
                for _ in 0..3 {
                    ::std::thread::sleep(WAIT);
                }
                async { thread::sleep(WAIT) }.await;
            })),
            ["thread::sleep", "reqwest::blocking", "thread::sleep", "thread::sleep"]
        );
    }

    #[test]
    fn what_may_run_on_another_thread_is_left_alone() {
        assert!(
            found(parse_quote!({
                tokio::task::spawn_blocking(|| std::thread::sleep(WAIT)).await?;
                tokio::task::block_in_place(|| reqwest::blocking::get(url))?;
                tokio::spawn(async { std::thread::sleep(WAIT) });
                fn other() {
                    std::thread::sleep(WAIT);
                }
            }))
            .is_empty()
        );
    }

    #[test]
    fn what_may_be_something_else_is_left_alone() {
        assert!(
            found(parse_quote!({
                sleep(WAIT).await;
                tokio::time::sleep(WAIT).await;
                loom::thread::sleep(WAIT);
                let wait = std::thread::sleep;
                #[inline]
                #[cfg(test)]
                std::thread::sleep(WAIT);
                #[cfg(test)]
                let page = reqwest::blocking::get(url)?;
                thread::sleep(WAIT).await;
            }))
            .is_empty()
        );
    }

    #[test]
    fn a_statement_that_allows_it_is_left_alone() {
        assert!(
            found(parse_quote!({
                #[allow(deprecated)]
                std::thread::sleep(WAIT);
                #[allow(unused, deprecated, reason = "there is no other client")]
                let page = reqwest::blocking::get(url)?;
            }))
            .is_empty()
        );
        let other = parse_quote!({
            #[allow(unused)]
            std::thread::sleep(WAIT);
        });
        assert_eq!(found(other).len(), 1);
    }

    #[test]
    fn a_future_that_is_made_in_several_statements_is_looked_into() {
        let block = parse_quote!({
            let name = name.to_owned();
            async move { std::thread::sleep(WAIT) }
        });
        assert_eq!(calls(&Body::of_future(block)).len(), 1);
    }
}
