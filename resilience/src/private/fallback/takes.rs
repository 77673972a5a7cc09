//! Which arguments a fallback takes.

use crate::__private::{Nothing, Slot};

/// Stands for the receiver of a function that has none, or none left.
#[derive(Debug)]
pub struct NoReceiver;

/// Stands for arguments that the fallback cannot have, because the body may have moved them away.
#[derive(Debug)]
pub struct NoArguments;

/// A fallback that can be called with the error `X`, and with receiver `S` and arguments `A` as
/// far as it takes them.
///
/// What it says when it is missing is up to the expansion, which knows the function's signature.
pub trait Takes<Form, S, A, X> {
    /// What the fallback returns, a future if it is async.
    type Output;

    /// Calls the fallback.
    fn call(self, receiver: S, arguments: A, error: X) -> Self::Output;
}

/// Marks a fallback that takes the error alone.
#[derive(Debug)]
pub struct ErrorAlone;

/// Marks a fallback that takes the arguments and the error.
#[derive(Debug)]
pub struct WithArguments;

/// Marks a fallback that takes receiver, arguments and error.
#[derive(Debug)]
pub struct WithReceiver;

#[diagnostic::do_not_recommend]
impl<F, R, S, A, X> Takes<ErrorAlone, S, A, X> for F
where
    F: FnOnce(X) -> R,
{
    type Output = R;

    fn call(self, _receiver: S, _arguments: A, error: X) -> R {
        self(error)
    }
}

/// Marks what is no fallback.
#[derive(Debug)]
pub struct NoFallback;

#[diagnostic::do_not_recommend]
impl<F: Nothing, S, A, X> Takes<NoFallback, S, A, X> for F {
    type Output = X;

    fn call(self, _receiver: S, _arguments: A, _error: X) -> X {
        self.never()
    }
}

macro_rules! arity {
    ($($A:ident)*) => {
        #[diagnostic::do_not_recommend]
        impl<F, R, S, $($A,)* X> Takes<WithReceiver, Slot<S>, ($(Slot<$A>,)*), X> for F
        where
            F: FnOnce(S, $($A,)* X) -> R,
        {
            type Output = R;

            #[allow(non_snake_case)]
            fn call(self, receiver: Slot<S>, ($($A,)*): ($(Slot<$A>,)*), error: X) -> R {
                self(receiver.into_inner(), $($A.into_inner(),)* error)
            }
        }

        arity!(@arguments $($A)*);
    };
    // Without arguments this form would be the error alone.
    (@arguments) => {};
    (@arguments $($A:ident)+) => {
        #[diagnostic::do_not_recommend]
        impl<F, R, S, $($A,)* X> Takes<WithArguments, S, ($(Slot<$A>,)*), X> for F
        where
            F: FnOnce($($A,)* X) -> R,
        {
            type Output = R;

            #[allow(non_snake_case)]
            fn call(self, _receiver: S, ($($A,)*): ($(Slot<$A>,)*), error: X) -> R {
                self($($A.into_inner(),)* error)
            }
        }
    };
}

arity!();
arity!(A1);
arity!(A1 A2);
arity!(A1 A2 A3);
arity!(A1 A2 A3 A4);
arity!(A1 A2 A3 A4 A5);
arity!(A1 A2 A3 A4 A5 A6);
arity!(A1 A2 A3 A4 A5 A6 A7);
arity!(A1 A2 A3 A4 A5 A6 A7 A8);
arity!(A1 A2 A3 A4 A5 A6 A7 A8 A9);
arity!(A1 A2 A3 A4 A5 A6 A7 A8 A9 A10);
arity!(A1 A2 A3 A4 A5 A6 A7 A8 A9 A10 A11);
arity!(A1 A2 A3 A4 A5 A6 A7 A8 A9 A10 A11 A12);
