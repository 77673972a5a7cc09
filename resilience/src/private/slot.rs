//! Arguments between attempts: who keeps one, who clones it, who moves it away.
//!
//! An owned argument waits in a [`Slot`]. What an attempt does with it depends on who needs it
//! later, which is known from the types of the fallbacks and from whether there is a retry: a
//! [`Lend`] policy. So `Clone` is asked for only where a clone is really made.

/// An argument that waits for its attempt, or for the fallback.
#[derive(Debug)]
pub struct Slot<T>(Option<T>);

impl<T> Slot<T> {
    /// Holds an argument.
    pub fn new(value: T) -> Self {
        Self(Some(value))
    }

    /// Gives the argument away for good.
    pub(super) fn into_inner(mut self) -> T {
        self.take()
    }

    fn take(&mut self) -> T {
        self.0.take().expect("a policy takes an argument only where nobody asks for it again")
    }
}

/// An argument that more than one attempt, or an attempt and the fallback, need.
#[diagnostic::on_unimplemented(
    message = "this argument is needed more than once, but `{Self}` is not `Clone`",
    label = "not `Clone`",
    note = "a retry gives every attempt its own copy, a fallback that takes the arguments keeps one",
    note = "derive `Clone`, take the argument by reference or in an `Arc`, or let the fallback take \
            nothing but the error; a type parameter is bound by it: `T: Clone`"
)]
pub trait Reusable: Clone {}

#[diagnostic::do_not_recommend]
impl<T: Clone> Reusable for T {}

/// How an attempt gets an owned argument.
pub trait Lend<T>: Copy {
    /// The argument for one attempt; `last` tells that no further attempt can follow.
    fn lend(self, slot: &mut Slot<T>, last: bool) -> T;
}

/// There is one attempt and nobody else: it takes the argument.
#[derive(Debug, Clone, Copy)]
pub struct Once;

/// There may be more attempts: each gets a clone, the last possible one the argument itself.
#[derive(Debug, Clone, Copy)]
pub struct PerAttempt;

/// The fallback takes the arguments: every attempt gets a clone.
#[derive(Debug, Clone, Copy)]
pub struct Keep;

impl<T> Lend<T> for Once {
    fn lend(self, slot: &mut Slot<T>, _last: bool) -> T {
        slot.take()
    }
}

impl<T: Reusable> Lend<T> for PerAttempt {
    fn lend(self, slot: &mut Slot<T>, last: bool) -> T {
        if last { slot.take() } else { Keep.lend(slot, false) }
    }
}

impl<T: Reusable> Lend<T> for Keep {
    fn lend(self, slot: &mut Slot<T>, _last: bool) -> T {
        slot.0.clone().expect("a kept argument is never taken by an attempt")
    }
}

/// What may move to another task or thread: an argument on the way there, a result on the way back.
#[diagnostic::on_unimplemented(
    message = "this moves to another task or thread, but `{Self}` is not `Send`",
    label = "not `Send + 'static`",
    note = "a detached body and a thread pool's body outlive the call: they own their arguments, \
            and send their result back",
    note = "take what other threads may have, such as an `Arc` in the place of an `Rc`; a type \
            parameter is bound: `T: Send + 'static`"
)]
pub trait Movable: Send + 'static {}

#[diagnostic::do_not_recommend]
impl<T: Send + 'static> Movable for T {}

/// Passes an argument on that may move to another task or thread.
pub fn movable<T: Movable>(argument: T) -> T {
    argument
}

#[cfg(test)]
mod tests {
    use std::{cell::Cell, rc::Rc};

    use super::*;

    struct Counted(Rc<Cell<u32>>);

    impl Clone for Counted {
        fn clone(&self) -> Self {
            self.0.set(self.0.get() + 1);
            Self(self.0.clone())
        }
    }

    fn counted() -> (Slot<Counted>, Rc<Cell<u32>>) {
        let clones = Rc::new(Cell::new(0));
        (Slot::new(Counted(clones.clone())), clones)
    }

    #[test]
    fn a_single_attempt_clones_nothing() {
        let (mut slot, clones) = counted();
        Once.lend(&mut slot, false);
        assert_eq!(clones.get(), 0);
    }

    #[test]
    fn the_last_attempt_gets_the_argument_itself() {
        let (mut slot, clones) = counted();
        PerAttempt.lend(&mut slot, false);
        PerAttempt.lend(&mut slot, false);
        PerAttempt.lend(&mut slot, true);
        assert_eq!(clones.get(), 2);
    }

    #[test]
    fn an_argument_for_the_fallback_is_still_there_after_the_last_attempt() {
        let (mut slot, clones) = counted();
        Keep.lend(&mut slot, false);
        Keep.lend(&mut slot, true);
        slot.into_inner();
        assert_eq!(clones.get(), 2);
    }
}
